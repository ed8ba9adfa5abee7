/* SPDX-License-Identifier: BSD-2-Clause */
/* CLOCK_MONOTONIC in nanoseconds: the clock of samples and side events. */
#ifndef WEFT_BASE_CLOCK_H
#define WEFT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND_NS 1000000000ULL
#define ONE_MS_NS 1000000LL /* signed: what is left of a time may be less than none */

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The time of day, which somebody may set. */
static inline uint64_t clock_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
