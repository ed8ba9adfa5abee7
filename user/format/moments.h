/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fell when, of one view: the samples of a profile in order of time, those
 * of one step with the same stack and thread's name as one. A step is a second, or
 * as many as keep their number small. What no second is known of comes last.
 */
#ifndef WEFT_FORMAT_MOMENTS_H
#define WEFT_FORMAT_MOMENTS_H

#include "core/profile.h"

#define MOMENTS_MAX (200u << 10) /* unless there are more distinct stacks */

struct moment {
	uint32_t step, end;
	uint64_t count;
};

struct moments {	    /* {0} is empty */
	struct pairs ends;  /* a = node of the leaf, b = string of the comm */
	VEC(uint64_t) sums; /* by end, over all time */
	VEC(struct moment) items;
};

/* Their counts add up to the profile's. */
int moments_find(struct moments *moments, const struct profile *r, enum view view);
void moments_free(struct moments *moments); /* what it holds, not itself */

#endif
