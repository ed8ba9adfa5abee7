/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From frame record to frame record, as long as that is all there is to a step: code of
 * one file that is proven to keep frame pointers, records that were read ahead, no root
 * in between. The rest is walk.bpf.c's.
 */
#ifndef WEFT_RECORDS_BPF_H
#define WEFT_RECORDS_BPF_H

#include "words.bpf.h"

/* Is the frame at hand, which was kept, one that may do so? */
static __always_inline bool records_lead_on(const struct scratch *s)
{
	if (has_root_cursors(s) &&
	    (s->n_root_cursors > 1 || knobs.faults & FAULT_NO_INTERVAL))
		return false;
	return s->step_kind == STEP_KIND_PROVEN_FP && s->kind == FRAME_CALLER &&
	       s->call == CALL_BEFORE && !s->leads && !s->beam_end;
}

/* To the last frame that can be reached so, some frames on; all of them are kept. */
int records_follow(__u32 hook);

#endif
