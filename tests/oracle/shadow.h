/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the stepped program tells the one that steps it: not what its async
 * structures hold, but what it means them to say. Around each change the
 * program arms the shadow; until it disarms it the old meaning and the new one
 * are both right, and nothing else ever is.
 */
#ifndef WEFT_TESTS_SHADOW_H
#define WEFT_TESTS_SHADOW_H

#include <stdint.h>

#define SHADOW_STACKS 4

enum shadow_change {
	SHADOW_ENTER, /* the function with frame pointer fp runs task */
	SHADOW_LEAVE, /* the innermost dispatcher ends */
	SHADOW_RUN,   /* the innermost dispatcher runs task; 0: nothing */
	SHADOW_NOTHING,
};

/* An operation as meant. ip: where its parent goes on. */
struct shadow_task {
	uint64_t parent; /* shadow_task, or 0 */
	uint64_t ip;
	uint64_t waiter_fp; /* without a parent: who waits here; 0: nobody */
};

struct shadow_stack {
	uint64_t low, top;   /* addresses */
	uint64_t generation; /* of what runs there; 0: unused */
};

struct shadow {
	/* what changes, read at every instruction */
	uint64_t armed;
	uint64_t change; /* enum shadow_change */
	uint64_t fp;
	uint64_t task;

	uint64_t key_addr, slots_addr; /* pthread_key_t; void *[] */
	uint64_t text, text_end;
	uint64_t switch_start, switch_end; /* code that changes stacks */
	uint64_t made_end; /* from there to here: a made stack's first function */
	struct shadow_stack stacks[SHADOW_STACKS];

	uint64_t signals;		/* handlers are installed */
	uint64_t handler, restorers[2]; /* of SIGUSR1; of SIGUSR2 */
	uint64_t other_low, other_top;	/* SIGUSR2's stack */
	uint64_t jump_start, jump_end;	/* code in nobody's frame */
};

#endif
