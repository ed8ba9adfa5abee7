/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callers that can't be. A direct call leads to one function; if that stays where it is
 * (unwind/function_code.h), its frame is below the call. If another's is, by true steps,
 * then who called this one has returned since, and another call has left its return
 * address there: so it is above coroutines that were begun in the middle of a function
 * (libdill's go(), or below a gap in the thread's own stack).
 */
#ifndef WEFT_SYM_CALL_PAIRS_H
#define WEFT_SYM_CALL_PAIRS_H

#include "core/names.h"
#include "sym/code_frames.h"
#include "sym/code_verdicts.h"

/* Where the function begins that a frame is in, as linked; 0: none is known. */
uint64_t call_pairs_function(const struct frame *frame, const struct code_file *in);

/* Is the call before a return address a direct one? *ret: where it leads, as linked. */
bool call_pairs_target(const struct frame *frame, const struct code_file *in,
		       uint64_t *ret);

/* What is known of a frame, by its id; {0} but for `is`. */
struct call_pair_end {
	struct code_verdict is;
	bool was_true;	      /* a suspect that has who it called below it */
	bool was_denied;      /* or somebody else */
	bool is_asked, stays; /* its target, wherever what that calls is at work */
	uint32_t good;	      /* 1 + who was last found below it, and may be */
};

/* Looks at all frames of all stacks beside those below them. Marks in names the pairs
 * that can't be, and the suspects (sym/bottoms.h) that nobody called; what can't be told,
 * isn't. */
int call_pairs_check(struct names *names, const struct aggregator *aggregator,
		     struct code_frames *frames, struct call_pair_end *ends);

#endif
