/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlined functions that are found after the recording: noted by frame, then put into
 * all stacks at once, between their frame and the leaf.
 */
#ifndef WEFT_REPORT_LATE_INLINES_H
#define WEFT_REPORT_LATE_INLINES_H

#include "core/profile.h"
#include "obj/inlines.h"

/* What was inlined into a frame. */
struct late_chain {
	uint32_t frame;
	uint32_t n;
	size_t first; /* of its frames: the outermost */
};

struct late_inlines { /* {0} is an empty one */
	VEC(struct late_chain) chains;
	VEC(uint32_t) frames;
};

void late_inlines_free(struct late_inlines *inlines); /* what it holds */

/* The frame's line, and its functions as frames of the profile. locations: as of
 * inline_sink. Once a frame. 0 or -ENOMEM, as the next. */
int late_inlines_note(struct late_inlines *inlines, struct profile *r, uint32_t frame,
		      const struct source_location *locations, size_t n);

int late_inlines_apply(const struct late_inlines *inlines, struct profile *r);

#endif
