/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bottoms of stacks that look like calls. Who makes a stack by hand often has its
 * first function return to the first byte of another; and before that there may be a
 * call by chance, as the last thing that a function does which does not go on. A true
 * return address there has the call's target below it.
 */
#ifndef WEFT_SYM_BOTTOMS_H
#define WEFT_SYM_BOTTOMS_H

#include "sym/code_frames.h"

/* Does this frame lie at a function's first byte, behind a call that leads to what is
 * known to be one as well? target: where it leads, as linked. */
bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t target);

#endif
