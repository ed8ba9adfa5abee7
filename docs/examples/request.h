/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the examples have in common: some CPU time for a profile to see, and how
 * many requests are made (the first argument; 20 without).
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <weft/async.h>

#include <stdlib.h>

static volatile unsigned long request_work;

static inline void request_answer(void)
{
	for (unsigned long i = 0; i < 1000000; i++)
		request_work += i;
}

static inline int requests(int argc, char **argv)
{
	return argc > 1 ? atoi(argv[1]) : 20;
}

#endif
