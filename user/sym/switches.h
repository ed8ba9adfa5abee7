/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves that were interrupted while they change stacks. What has call frame
 * information and says nothing of it there, as glibc's swapcontext, leads on from the
 * stack that it just took, by a return address that is not there yet. x86-64.
 */
#ifndef WEFT_SYM_SWITCHES_H
#define WEFT_SYM_SWITCHES_H

#include "core/names.h"
#include "sym/files.h"

/* Marks such frames in names; what can't be read, isn't. */
int switches_check(struct names *names, const struct aggregator *aggregator,
		   const struct files *files);

#endif
