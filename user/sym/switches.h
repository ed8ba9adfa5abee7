/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves that were interrupted while they change stacks. What has call frame
 * information that goes by the stack pointer there, as glibc's swapcontext and OCaml's
 * caml_resume, leads on from the stack that it just took, to who never called it. Before
 * that, a switch in inline assembly has pushed what its compiler's file knows nothing of.
 */
#ifndef WEFT_SYM_SWITCHES_H
#define WEFT_SYM_SWITCHES_H

#include "sym/code_frames.h"

/* Is this frame such a one? What can't be read, isn't. */
bool switches_is_one(const struct frame *frame, const struct code_file *in);

#endif
