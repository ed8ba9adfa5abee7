/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bottoms of stacks that look like calls. Who makes a stack by hand often has its
 * first function return to the first byte of another; and before that there may be a
 * call by chance, as the last thing that a function does which does not go on. A true
 * return address there has the call's target below it.
 */
#ifndef WEFT_SYM_BOTTOMS_H
#define WEFT_SYM_BOTTOMS_H

#include "core/names.h"
#include "sym/code_frames.h"

/* Does this frame lie at a function's first byte, behind a call of what is known? *ret:
 * the function that the call leads to, as linked. */
bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t *ret);

/* What is known of a frame, by its id. */
struct suspect {
	bool is_one, is_true;
	bool was_denied; /* seen with another function below it */
	uint64_t target; /* as linked: the function that the call leads to */
};

/* Looks at those that are suspects (is_one and target are set) beside who is below them.
 * Marks in names the frames that are none; what can't be told, isn't. */
int bottoms_check(struct names *names, const struct aggregator *aggregator,
		  struct code_frames *frames, struct suspect *suspects);

#endif
