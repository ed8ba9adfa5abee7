/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of the record that is being made, what memory each frame of them covers,
 * and the test for cycles, which both kinds of walk need.
 */
#ifndef WEFT_WORDS_BPF_H
#define WEFT_WORDS_BPF_H

#include "maps.bpf.h"

static __always_inline bool wants_context(void)
{
	return knobs.trace_ids || knobs.attributes;
}

static __always_inline struct found_root *found_root(struct scratch *s, __u32 n)
{
	KEEP(n);
	return &s->roots[n & (MAX_ROOTS - 1)];
}

/* What the thread's next word covers. verifier: the mask, not the budget, bounds the
 * index */
static __always_inline void keep_bounds(struct scratch *s, __u32 hook, __u64 low,
					__u64 bytes)
{
	struct bounds_table *all = bounds_table(hook);
	__u32 n = s->n_words & (RECORD_WORDS_MAX - 1);

	if (!all || s->on_waiting_thread)
		return;
	all->of[n].low = low;
	all->of[n].bytes = bytes;
}

static __always_inline void emit_word(struct scratch *s, __u64 word)
{
	s->words[s->n_words & (RECORD_WORDS_MAX - 1)] = word;
	s->n_words++;
}

/* Frames that may still be kept. */
static __always_inline __u32 budget(const struct scratch *s)
{
	return s->on_waiting_thread ? s->chain_left : s->frames_left;
}

static __always_inline void charge(struct scratch *s, __u32 frames)
{
	if (s->on_waiting_thread)
		s->chain_left -= frames;
	else
		s->frames_left -= frames;
}

/* To a caller by its frame record alone: nothing tells of other registers. */
static __always_inline void forget_registers(struct scratch *s)
{
	s->is_leaf = s->from_leaf = s->left_alone = 0;
	s->bx_at = BX_UNKNOWN;
}

/* True once the walk has come back to where it was. */
static __always_inline bool cycle_found(struct scratch *s, __u64 at)
{
	if (at == s->tortoise)
		return true;
	if (--s->hare_steps)
		return false;
	s->tortoise = at;
	s->hare_limit *= 2;
	s->hare_steps = s->hare_limit;
	return false;
}

static __always_inline void start_cycle_test(struct scratch *s)
{
	s->tortoise = 0;
	s->hare_steps = s->hare_limit = 8;
}

/* A word between frames: no memory is its. */
static __always_inline void emit_mark(struct scratch *s, __u32 hook, __u64 word)
{
	keep_bounds(s, hook, 0, 0);
	emit_word(s, word);
}

#endif
