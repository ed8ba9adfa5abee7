/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ledger of a hook (enum hook). Every entry of its program ends in
 * exactly one of the outcomes, so that
 *
 *	ENTERED = sum of all outcomes
 *
 * holds for each CPU at any time that no tick is under way. How the user
 * stack of a kept sample ended is counted beside, by enum ending.
 */
#ifndef WEFT_SHARED_LOSSES_H
#define WEFT_SHARED_LOSSES_H

#include "record.h"

/* name, is it a loss, words */
#define OUTCOMES(X)                                                                      \
	X(IDLE, 0, "idle")                                                               \
	X(FILTERED, 0, "excluded by a filter")                                           \
	X(KEPT, 0, "kept")                                                               \
	X(NO_SCRATCH, 1, "no scratch memory")                                            \
	X(NO_RING, 1, "CPU without a ring buffer yet")                                   \
	X(RING_FULL, 1, "ring buffer full: reader too slow")

enum outcome {
#define X(name, loss, text) OUTCOME_##name,
	OUTCOMES(X)
#undef X
		N_OUTCOMES
};

/* Stacks of the kernel that were walked without its helper. */
struct kernel_walks {
	unsigned long long walked;
	unsigned long long checked;  /* of these: the helper was asked, too */
	unsigned long long differed; /* of these: and told another one, which was taken */
};

struct ledger {
	unsigned long long entered;
	unsigned long long outcomes[N_OUTCOMES];
	unsigned long long endings[N_ENDINGS]; /* of kept samples' thread walks */
	unsigned long long busy_ns;	       /* in samples, if knobs.timed */
	struct kernel_walks kernel;
};

#endif
