/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that called somebody else than who is below them. A true return address has its
 * call's target below it.
 *
 * Bottoms of stacks look like calls. Who makes a stack by hand often has its first
 * function return to the first byte of another; and before that there may be a call by
 * chance, as the last thing that a function does which does not go on.
 *
 * And a frame pointer that nothing proves leads past a caller while it is that one's: out
 * of code that makes its frame, or has none. Then whose call is known to lead to a
 * function that never goes on elsewhere called that one, which is missing.
 */
#ifndef WEFT_SYM_BOTTOMS_H
#define WEFT_SYM_BOTTOMS_H

#include "core/names.h"
#include "sym/code_frames.h"

/* Does this frame lie at a function's first byte, or does nothing prove it, and a call of
 * what is known is before it? *ret: the function that the call leads to, as linked. */
bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t *ret);

/* What is known of a frame, by its id. */
struct suspect {
	bool is_one, is_true; /* of one that nothing proves, whether it is one */
	bool was_denied;      /* seen with another function below it */
	uint64_t target;      /* as linked: the function that the call leads to */
};

/* Looks at those that are suspects (is_one and target are set) beside who is below them.
 * Marks in names the bottoms, and each frame of another file, or of none, with whom is
 * above it and did not call it; what can't be told, isn't. */
int bottoms_check(struct names *names, const struct aggregator *aggregator,
		  struct code_frames *frames, struct suspect *suspects);

#endif
