/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two programs that replace each other by exec, over and over, in one process.
 * Both are linked at fixed addresses and have a pthread key at the very same
 * one, the section .swapkey. In one it is the key of async roots. In the other (built
 * with -DDECOY) it is a key of the program's own, whose slot holds what would
 * read as a root with a chain through decoy_a and decoy_b, which never existed.
 * A profiler that uses for one program what it knew of the other shows them.
 *
 *	swap MS OTHER    MS are left; each life takes 70 of them
 *
 * Async:  true_a;true_b;--;step;burn       of the one
 *         main;plain_loop;plain_step;burn  of the other
 */
#include "folly.h"

#define LIFE_MS 70 /* in no step with how the recorder is stopped */

#ifdef DECOY
#define KEY	   program_key
#define KIND(name) decoy_##name
#define STEP	   plain_step
#define LOOP	   plain_loop
#else
#define KEY	   folly_async_stack_root_tls_key
#define KIND(name) true_##name
#define STEP	   step
#define LOOP	   swap_loop
#endif

extern pthread_key_t KEY;
__attribute__((section(".swapkey"))) pthread_key_t KEY = 0xffffffff;

static struct AsyncStackRootHolder holder;
static struct AsyncStackFrame frames[2];

FN void burn(void)
{
	spin(360);
}

FN void KIND(a)(void)
{
	spin(1);
}

FN void KIND(b)(void)
{
	spin(2);
}

FN void STEP(void)
{
	for (int i = 0; i < 10; i++)
		burn();
	AFTER();
}

FN void LOOP(void)
{
	struct AsyncStackRoot root = { 0 };
	unsigned long long end = work_now_ns() + LIFE_MS * 1000000ULL;

	root.stackFramePtr = __builtin_frame_address(0);
	root.returnAddress = __builtin_return_address(0);
	root.topFrame = &frames[1];
	holder.value = &root;
	while (work_now_ns() < end)
		STEP();
	holder.value = NULL;
}

FN void become(const char *program, const char *ms, const char *other)
{
	const char *argv[] = { program, ms, other, NULL };

	sys_call(SYS_execve, (long)program, (long)argv, (long)environ, 0, 0);
	work_exit(2);
}

int main(int argc, char **argv)
{
	char left[24];

	if (argc < 3)
		return work_usage(argv[0], "MS OTHER");
	folly_frame(&frames[0], NULL, inside((void *)KIND(a)));
	folly_frame(&frames[1], &frames[0], inside((void *)KIND(b)));
	pthread_key_create(&KEY, NULL);
	pthread_setspecific(KEY, &holder);
	work_ready();
	LOOP();
	if (atol(argv[1]) <= LIFE_MS)
		return 0;
	snprintf(left, sizeof(left), "%ld", atol(argv[1]) - LIFE_MS);
	become(argv[2], left, argv[0]);
	return 2;
}
