/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of one view of a profile: how many samples fell in each, and in
 * it or what it called (or asked for, in the async view). A function that is in
 * a stack twice counts once.
 */
#ifndef WEFT_CORE_FUNCTIONS_H
#define WEFT_CORE_FUNCTIONS_H

#include "core/profile.h"

struct function {
	uint32_t name, module; /* string; the profile's module */
	uint32_t type;	       /* enum frame_type of its first frame */
	uint32_t reserved;
	uint64_t self, total;
};

struct functions {
	VEC(struct function) items; /* by self, then total, then name */
	uint64_t total;		    /* of the view */
};

/* no_kernel: what fell there counts for who called it. */
int functions_find(struct functions *functions, const struct profile *profile,
		   enum view view, bool no_kernel);
void functions_free(struct functions *functions); /* what it holds */

#endif
