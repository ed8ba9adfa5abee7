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

/* Marks in names the frames that are none; what can't be told, isn't. */
int bottoms_check(struct names *names, const struct aggregator *aggregator,
		  struct code_frames *frames);

#endif
