/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Down a stack, from s->pc, sp and fp; s->ending says how it ended. */
#ifndef WEFT_WALK_BPF_H
#define WEFT_WALK_BPF_H

#include "words.bpf.h"

/* The frame at hand is the first of a stack: the sampled one, or a waiting thread's,
 * which is a caller like any. */
static __always_inline void walk_begin(struct scratch *s)
{
	start_cycle_test(s);
	s->is_first = 1;
	s->begun_sp = s->sp;
	s->leads = 0;
	s->strays = 0;
	s->is_unproven = 0;
	s->method = 0;
	s->java_end = 0;
	s->beam_end = 0;
	s->step_bytes = 0;
	s->chunk_bytes = 0;
	s->kind = s->on_waiting_thread ? FRAME_CALLER
		  : s->in_syscall      ? FRAME_SYSCALL
				       : FRAME_USER;
}

int walk_chunk(__u32 hook); /* some frames on; it changes s->phase at the end */
int walk_end(__u32 hook, __u32 ending);
int walk_on_by_table(__u32 hook);

#endif
