/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sample's user stack, with all that it leads to. */
#ifndef WEFT_SPLICE_BPF_H
#define WEFT_SPLICE_BPF_H

#include "maps.bpf.h"

static __always_inline void splice_begin(struct scratch *s)
{
	s->n_words = 0;
	s->has_context = 0;
	s->chains_context = 0;
	s->view_at = 0;
	s->n_root_cursors = 0;
	s->n_roots = 0;
	s->next_root = 0;
	s->on_waiting_thread = 0;
	s->node_before = s->node_near = 0;
	s->hops_left = SAMPLE_HOPS;
	s->chunk_bytes = s->beside_bytes = 0; /* what lies there is another sample's */
}

/* From s->pc, sp, fp, lr and regs. */
int splice_user_stack(__u32 hook);
int splice_advance(__u32 hook);

#endif
