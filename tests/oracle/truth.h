/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a walk must say, from the shadow stack and from what the program means
 * its async structures to hold.
 */
#ifndef WEFT_TESTS_TRUTH_H
#define WEFT_TESTS_TRUTH_H

#include "tracer.h"

#define TRUTH_FRAMES 1024
#define CHAIN_MAX    64
#define ROOTS_MAX    16

#define SEAM ~0ULL /* stands between the thread's addresses and async ones */

struct truth_frame {
	uint64_t pc;
	uint64_t low, cfa; /* its memory, once it is set up; cfa 0: none of its own */
};

struct truth_root {
	uint64_t fp; /* of the frame that registered it */
	uint64_t ips[CHAIN_MAX];
	size_t n_ips;
	uint64_t waiter_fp; /* where the chain goes on; 0: nowhere */
};

/* The roots of the thread, outermost first. */
struct meaning {
	struct truth_root roots[ROOTS_MAX];
	size_t n;
};

struct addresses {
	uint64_t at[2 * TRUTH_FRAMES];
	size_t n;
};

/* Frames, leaf first, of what runs on a stack and of who resumed it. */
size_t truth_frames(const struct tracer *t, int stack, struct truth_frame *frames);

/*
 * The two views of n frames. skipped: so many callers of the leaf that frame
 * pointers cannot show, since the leaf is setting up its own.
 */
void truth_thread(const struct truth_frame *frames, size_t n, size_t skipped,
		  struct addresses *ret);
void truth_async(const struct truth_frame *frames, size_t n, size_t skipped,
		 const struct meaning *meaning, struct addresses *ret);

/* The armed change applied. False: the program's own word makes no sense. */
bool meaning_change(struct meaning *meaning, const struct tracer *t);

#endif
