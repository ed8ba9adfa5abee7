/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a thread's own stack begins, in places where it is not expected.
 *
 *	wide thread MS  a thread with 300 KB of variables of its own, which lie
 *	                between its first frame and what the C library has of it
 *	wide forked MS  its child by fork, whose first thread runs on that stack
 *	wide near MS    no thread's: a made stack among the first thread's variables,
 *	                below what the C library has of it; nobody called there
 *
 * Thread: run;burn
 */
#include "work.h"

#include <sys/wait.h>

#define WIDE_BYTES (300 * 1024)

static __thread volatile char wide[WIDE_BYTES];

FN void burn(void)
{
	spin(3600);
}

FN void run(void)
{
	for (;;) {
		wide[0]++;
		burn();
	}
}

FN void *run_thread(void *unused)
{
	run();
	AFTER();
	return unused;
}

FN void *run_forked(void *ms)
{
	if (fork())
		return wait(NULL) < 0 ? ms : NULL;
	work_lifetime(ms);
	run();
	AFTER();
	return NULL;
}

FN void run_near(void)
{
	volatile char *top = wide + WIDE_BYTES - 64;

	top -= (unsigned long)top % 16;
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\npush $0\njmp *%1" ::"r"(top), "r"(run));
#else
	__asm__ volatile("mov sp, %0\nmov x29, #0\nmov x30, #0\nbr %1" ::"r"(top),
			 "r"(run));
#endif
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	work_lifetime(argc > 2 ? argv[2] : NULL);
	work_ready();
	if (!strcmp(mode, "thread"))
		pthread_join(work_thread(run_thread, NULL), NULL);
	else if (!strcmp(mode, "forked"))
		pthread_join(work_thread(run_forked, argv[2]), NULL);
	else if (!strcmp(mode, "near"))
		run_near();
	return work_usage(argv[0], "thread|forked|near MS");
}
