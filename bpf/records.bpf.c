// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What walk_on() does is done here for the most usual frames, in a loop without a call. A
 * step that is none of these is not begun, so who goes on there finds all as it was.
 */
#include "records.bpf.h"

#define RECORD_STEPS 4

/* Of the root to mark next; 0: there is none. */
static __always_inline __u64 next_place(const struct scratch *s)
{
	return has_root_cursors(s) && s->root_cursors[0].addr ? s->root_cursors[0].place
							      : 0;
}

/* Does the frame record at fp lie in the chunk? Its place there into *ret_at. verifier:
 * the mask alone bounds that; what lies behind the chunk is of the same value. */
static __always_inline bool find_record(const struct scratch *s, __u64 *ret_at)
{
	__u64 at = s->fp - s->chunk_base;

	*ret_at = at & (CHUNK_BYTES - 1);
	return s->chunk_bytes >= FRAME_BYTES && at <= s->chunk_bytes - FRAME_BYTES;
}

/* Is it a caller of the mapping at hand, and its record above on the same stack? */
static __always_inline bool is_usual(const struct scratch *s, __u64 pc, __u64 fp)
{
	return pc - 1 - s->mapping.start < s->mapping.end - s->mapping.start &&
	       fp - s->cfa < SAME_STACK_BYTES &&
	       !(((pc | fp) & ~FRAME_ADDR_MASK) | (fp & 7));
}

static __always_inline void go_to(struct scratch *s, __u32 hook, __u64 pc, __u64 fp)
{
	s->step_bytes = fp - s->fp;
	s->pc = pc;
	s->sp = s->cfa;
	s->fp = fp;
	s->cfa = fp + FRAME_BYTES;
	if (has_root_cursors(s))
		keep_bounds(s, hook, s->sp, s->cfa - s->sp);
	emit_word(s, (__u64)FRAME_CALLER << FRAME_KIND_SHIFT | pc);
}

static __always_inline void end_run(struct scratch *s, __u32 n)
{
	if (!n)
		return;
	forget_registers(s);
	if (!FP_GIVES_SP)
		s->sp_is_least = 1;
	charge(s, n);
}

int records_follow(__u32 hook)
{
	struct scratch *s = scratch(hook);
	/* verifier: i is kept on the stack, where Linux before 5.16 knows only words
	 * (tools/lint-loops) */
	__u64 place, at, fp, pc, i;
	__u32 left;

	if (!s || s->fp & 7 || s->fp - 4096 > FRAME_ADDR_MASK - 4096)
		return 0;
	place = next_place(s);
	left = budget(s);
	for (i = 0; i < RECORD_STEPS; i++) {
		if (i >= left || !find_record(s, &at))
			break;
		fp = FP_OF(*(__u64 *)(s->chunk + at));
		pc = *(__u64 *)(s->chunk + at + 8) & knobs.addr_mask;
		if (!is_usual(s, pc, fp) || place - s->cfa < fp + FRAME_BYTES - s->cfa ||
		    cycle_found(s, s->cfa))
			break;
		go_to(s, hook, pc, fp);
	}
	end_run(s, i);
	return 0;
}
