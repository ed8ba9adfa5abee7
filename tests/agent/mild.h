/* SPDX-License-Identifier: BSD-2-Clause */
/* A tenth of a CPU, or what many threads are to take together: enough to be sampled, and
 * little beside all that a test measures. */
#ifndef TESTS_AGENT_MILD_H
#define TESTS_AGENT_MILD_H

#include <time.h>
#include <unistd.h>

#define MILD_WORK_NS 2000000
#define MILD_REST_US 18000

static inline long long mild_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Works for a while and rests, in the function that calls it. */
static inline __attribute__((always_inline)) void mild_turn(unsigned int rest_us)
{
	long long end = mild_now_ns() + MILD_WORK_NS;

	do
		for (volatile int i = 0; i < 20000; i++)
			;
	while (mild_now_ns() < end);
	usleep(rest_us);
}

#endif
