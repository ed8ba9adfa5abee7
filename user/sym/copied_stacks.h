/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that are copied away and back, as greenlet's and PyPy's are. Each lies where
 * others lie while it doesn't, so that what is behind its first function are another
 * one's callers, by true addresses; and while one is copied, half of each is there. No
 * rule and no address says so, but code does (unwind/stack_copier.h).
 */
#ifndef WEFT_SYM_COPIED_STACKS_H
#define WEFT_SYM_COPIED_STACKS_H

#include "sym/code_frames.h"

/* Is this frame where a stack is being put back? What can't be read, isn't. */
bool copied_stacks_is_copying(const struct frame *frame, const struct code_file *in);

/* Does such a stack begin with this frame's function? It calls what copies stacks, by one
 * function between at most, and behind that it returns, as who made the stack is come
 * back to; but from here, as the stack's first, it never does. */
bool copied_stacks_begins(const struct frame *frame, const struct code_file *in);

#endif
