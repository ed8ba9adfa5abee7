/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves that were interrupted while they change stacks. What has call frame
 * information that goes by the stack pointer there, as glibc's swapcontext and OCaml's
 * caml_resume, leads on from the stack that it just took, to who never called it.
 */
#ifndef WEFT_SYM_SWITCHES_H
#define WEFT_SYM_SWITCHES_H

#include "core/names.h"
#include "sym/code_frames.h"

/* Marks such frames in names; what can't be read, isn't. */
int switches_check(struct names *names, struct code_frames *frames);

#endif
