/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 400 functions, hop_000 to hop_399, and chains through them: the caller of
 * frame n goes on in hop_n. None of them ever runs; a name in a profile says
 * that the chain was read rightly at that place.
 */
#ifndef WORKLOADS_HOPS_H
#define WORKLOADS_HOPS_H

#include "work.h"

#include "weft/async.h"

#define HOPS 400

#define HOPS_10(X, tens)                                                                 \
	X(tens##0)                                                                       \
	X(tens##1)                                                                       \
	X(tens##2)                                                                       \
	X(tens##3)                                                                       \
	X(tens##4)                                                                       \
	X(tens##5)                                                                       \
	X(tens##6)                                                                       \
	X(tens##7)                                                                       \
	X(tens##8)                                                                       \
	X(tens##9)
#define HOPS_100(X, hundreds)                                                            \
	HOPS_10(X, hundreds##0)                                                          \
	HOPS_10(X, hundreds##1)                                                          \
	HOPS_10(X, hundreds##2)                                                          \
	HOPS_10(X, hundreds##3)                                                          \
	HOPS_10(X, hundreds##4)                                                          \
	HOPS_10(X, hundreds##5)                                                          \
	HOPS_10(X, hundreds##6)                                                          \
	HOPS_10(X, hundreds##7)                                                          \
	HOPS_10(X, hundreds##8)                                                          \
	HOPS_10(X, hundreds##9)
#define HOPS_ALL(X)                                                                      \
	HOPS_100(X, 0)                                                                   \
	HOPS_100(X, 1)                                                                   \
	HOPS_100(X, 2)                                                                   \
	HOPS_100(X, 3)

/* the number in each body keeps a compiler from folding them into one */
#define HOP_FUNCTION(n)                                                                  \
	FN void hop_##n(void)                                                            \
	{                                                                                \
		__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::"i"(1##n));                \
	}
HOPS_ALL(HOP_FUNCTION)

#define HOP_ENTRY(n) (void *)hop_##n,
static void *const hops[HOPS] = { HOPS_ALL(HOP_ENTRY) };

/*
 * A function's place where it goes on: any address inside it that is not its
 * first, since a return address is looked up one byte before.
 */
INLINE void *place_in(void *function)
{
	return (char *)function + 4;
}

/*
 * n frames, the oldest first; the oldest goes on in hop `first`, and bottom is
 * what waits for it (NULL: nobody). Returns the newest: the leaf.
 */
INLINE struct weft_frame *hops_chain(struct weft_frame *frames, int n, int first,
				     struct weft_frame *bottom)
{
	for (int i = 0; i < n; i++)
		weft_frame_init(&frames[i], i ? &frames[i - 1] : bottom,
				place_in(hops[(first + i) % HOPS]));
	return &frames[n - 1];
}

#endif
