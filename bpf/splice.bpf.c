// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The order of a sample's walks: the thread once and whole, then the chain of
 * each root that was met, each of which may lead to another thread's stack
 * with roots of its own.
 */
#include "weft.bpf.h"

static __always_inline int do_piece(struct scratch *s, __u32 hook)
{
	switch (s->phase) {
	case PHASE_WALK:
		return walk_chunk(hook);
	case PHASE_ROOT:
		if (!async_open_chain(hook)) {
			s->phase = PHASE_DONE;
			return 0;
		}
		s->phase = PHASE_CHAIN;
		return 1;
	case PHASE_CHAIN:
		return async_walk_chain(hook);
	default:
		return 0;
	}
}

int splice_advance(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (int i = 0; i < ADVANCE_PIECES; i++) {
		if (!do_piece(s, hook))
			return 0;
	}
	return 1;
}
