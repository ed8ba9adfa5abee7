/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Along a chain of async frames, into a segment of the record. A chain ends by itself,
 * detached or for a reason that is told, or where a thread waits for it: there
 * splice.bpf.c goes on.
 */
#ifndef WEFT_CHAIN_BPF_H
#define WEFT_CHAIN_BPF_H

#include "words.bpf.h"

#define VIEW_NOWHERE (~0U) /* of s->view_at */

static __always_inline void open_segment(struct scratch *s)
{
	s->segment = s->n_words;
	emit_word(s, 0);
}

static __always_inline void close_segment(struct scratch *s, __u32 kind, __u32 ending,
					  __u32 target)
{
	__u32 count = s->n_words - s->segment - 1;

	s->words[s->segment & (RECORD_WORDS_MAX - 1)] =
		SEGMENT_WORD(kind, ending, s->next_root - 1, target, count);
}

int chain_open(__u32 hook); /* the next root: what is to be done then, enum phase */
int chain_walk(__u32 hook); /* some frames on; it changes s->phase at the end */
int chain_follow(__u32 hook);
int chain_go_on(__u32 hook, __u32 why);
int chain_load_nodes(__u32 hook);
int chain_emit_label(__u32 hook);

#endif
