// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The order of a sample's walks: the thread once and whole, then the chain of
 * each root that was found, each of which may lead to another thread's stack
 * with roots of its own.
 */
#include "chain.bpf.h"
#include "cross.bpf.h"
#include "process.bpf.h"
#include "roots.bpf.h"
#include "slot.bpf.h"
#include "splice.bpf.h"
#include "walk.bpf.h"

/* What the record does not need for the thread the chains may have. */
static __always_inline void end_thread(struct scratch *s)
{
	s->rec.ending = s->ending;
	s->rec.n_thread = s->n_words - s->thread_start;
	s->chain_left = RECORD_WORDS_MAX - UNCOUNTED_WORDS - s->n_words;
	if (s->chain_left > knobs.max_frames)
		s->chain_left = knobs.max_frames;
}

static __always_inline void end_stack(struct scratch *s, __u32 hook)
{
	if (has_root_cursors(s))
		roots_end_stack(hook);
	if (has_part(PART_CHAINS) && s->on_waiting_thread)
		cross_end_stack(hook);
	else
		end_thread(s);
	s->phase = has_part(PART_CHAINS) && s->n_roots ? PHASE_ROOT : PHASE_DONE;
}

/* A piece of work beside a stack; 0: there is no more. verifier: a function, or each
 * round of the loop had all its ways */
__noinline int splice_between_stacks(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	switch (s->phase) {
	case PHASE_WALKED:
		end_stack(s, hook);
		return s->phase != PHASE_DONE;
	case PHASE_ROOT:
		s->phase = chain_open(hook);
		return s->phase != PHASE_DONE;
	case PHASE_CHAIN:
		return chain_walk(hook);
	case PHASE_CHAIN_END:
		return cross_end_chain(hook);
	default:
		return 0;
	}
}

/* Some pieces; nonzero while there is more. */
__noinline int splice_advance(__u32 hook)
{
	struct scratch *s = scratch(hook);
	int more = 1;

	if (!s)
		return 0;
	for (int i = 0; i < ADVANCE_PIECES && more; i++)
		more = s->phase == PHASE_WALK ? walk_chunk(hook)
					      : splice_between_stacks(hook);
	return more;
}

static __always_inline void begin_thread(struct scratch *s)
{
	s->thread_start = s->n_words;
	s->frames_left = knobs.max_frames;
	s->phase = PHASE_WALK;
	s->is_leaf = 1;
	s->sp_is_least = 0;
	s->regs_at = 0;
	s->bx_at = BX_IN_REGS;
}

int splice_user_stack(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	begin_thread(s);
	process_begin(hook);
	if (has_part(PART_CHAINS) && s->has_keys) {
		slot_find_roots(hook);
		roots_place(hook);
	}
	walk_begin(s);
	for (int i = 0; i < ADVANCES; i++) {
		if (!splice_advance(hook))
			break;
	}
	return 0;
}
