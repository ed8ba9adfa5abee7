/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that publish for which trace they work, as OTEP 4947 has it, and only work in
 * a function of their own, so that each sample's function says which ids it must have:
 *
 *	traced MS
 *
 *	works_for_1 to _4   trace 1111…1 and span 1a1a…, to 4444…4 and 4a4a…
 *	turns_to_5, _6      one thread by turns, with 5555… and 6666…
 *	not_valid           a record that is not valid
 *	no_span             one without a span
 *	garbage             a pointer to nowhere
 *	kernel_address      one into the kernel
 *	nothing             null
 *
 * With EARLIER bytes of other thread-local variables before its own; or with the variable
 * in LIBRARY (libtraced.c), which is loaded, unless it is already.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct record {
	unsigned char trace[16], span[8];
	unsigned char valid, flags;
	uint16_t attributes_bytes;
	unsigned char attributes[8];
};

/* aligned: what lies between it and the thread pointer is more than its size */
static __thread volatile char earlier[EARLIER] __attribute__((aligned(64))) = { 1 };
static __thread volatile char later[3];

#ifdef LIBRARY
#include <dlfcn.h>

static void (*attach)(void *record);
#else
__thread struct record *volatile otel_thread_ctx_v1;

static void attach(struct record *record)
{
	otel_thread_ctx_v1 = record;
}
#endif

static struct timespec end;

#define FN __attribute__((noipa, used))

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec > end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec);
}

#define SPIN()                                                                           \
	for (volatile unsigned int i = 0; i < 300000; i++)                               \
	earlier[i % EARLIER] ^= later[i % 3]

FN void works_for_1(void)
{
	SPIN();
}
FN void works_for_2(void)
{
	SPIN();
}
FN void works_for_3(void)
{
	SPIN();
}
FN void works_for_4(void)
{
	SPIN();
}
FN void turns_to_5(void)
{
	SPIN();
}
FN void turns_to_6(void)
{
	SPIN();
}
FN void not_valid(void)
{
	SPIN();
}
FN void no_span(void)
{
	SPIN();
}
FN void garbage(void)
{
	SPIN();
}
FN void kernel_address(void)
{
	SPIN();
}
FN void nothing(void)
{
	SPIN();
}

static struct record *record_of(int k)
{
	struct record *record = calloc(1, sizeof(*record));

	memset(record->trace, k * 0x11, sizeof(record->trace));
	memset(record->span, k << 4 | 0xa, sizeof(record->span));
	record->valid = 1;
	record->flags = 1;
	record->attributes_bytes = sizeof(record->attributes);
	return record;
}

struct job {
	struct record *record;
	void (*work)(void);
	struct record *then; /* NULL: only the first one */
	void (*work_then)(void);
};

static void *run(void *arg)
{
	const struct job *job = arg;

	while (!is_over()) {
		attach(job->record);
		job->work();
		if (!job->then)
			continue;
		attach(job->then);
		job->work_then();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct job jobs[] = {
		{ record_of(1), works_for_1, 0, 0 },
		{ record_of(2), works_for_2, 0, 0 },
		{ record_of(3), works_for_3, 0, 0 },
		{ record_of(4), works_for_4, 0, 0 },
		{ record_of(5), turns_to_5, record_of(6), turns_to_6 },
		{ record_of(7), not_valid, 0, 0 },
		{ record_of(8), no_span, 0, 0 },
		{ (struct record *)8, garbage, 0, 0 },
		{ (struct record *)0xffffffff81000000, kernel_address, 0, 0 },
		{ NULL, nothing, 0, 0 },
	};
	enum { N = sizeof(jobs) / sizeof(*jobs) };
	pthread_t threads[N];
	long ms = argc > 1 ? atol(argv[1]) : 0;

	nice(19); /* who records it does not wait for it */
#ifdef LIBRARY
	void *library = dlopen(LIBRARY, RTLD_NOW);

	if (!library)
		return 2;
	*(void **)&attach = dlsym(library, "attach");
#endif
	clock_gettime(CLOCK_MONOTONIC_COARSE, &end);
	end.tv_sec += ms / 1000;
	jobs[5].record->valid = 2;
	memset(jobs[6].record->span, 0, sizeof(jobs[6].record->span));
	/* the first one here, the others in threads of their own */
	for (int i = 1; i < N; i++)
		if (pthread_create(&threads[i], NULL, run, &jobs[i]))
			return 1;
	puts("ready");
	fflush(stdout);
	run(&jobs[0]);
	for (int i = 1; i < N; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
