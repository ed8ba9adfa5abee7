/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fell when, of one view: the samples of a profile in order of time, those
 * of one step with the same stack and thread's name as one. A step is a second, or
 * as many as keep their number small. What no second is known of comes last.
 */
#ifndef WEFT_FORMAT_TIME_BUCKETS_H
#define WEFT_FORMAT_TIME_BUCKETS_H

#include "core/profile.h"

#define TIME_BUCKETS_MAX (200u << 10) /* unless there are more distinct stacks */

struct time_bucket {
	uint32_t step, end;
	uint64_t count;
};

struct time_buckets {	    /* {0} is empty */
	struct pairs ends;  /* a = node of the leaf, b = string of the comm */
	VEC(uint64_t) sums; /* by end, over all time */
	VEC(struct time_bucket) items;
};

/* Their counts add up to the profile's. */
int time_buckets_fill(struct time_buckets *time_buckets, const struct profile *r,
		      enum view view);
void time_buckets_free(struct time_buckets *time_buckets); /* what it holds, not itself */

#endif
