// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Down a thread's stack by frame pointers. A frame is (pc, sp, fp): where it
 * runs, where its memory begins, and the frame record that leads to its caller.
 *
 * Stack memory is read in chunks, since one read of 1 KiB costs little more than
 * one of 16 bytes; how large, the last step says. They end with their page: what
 * is not resident must not cost the frames that are.
 *
 * Every caller found here is UNPROVEN: code without frame pointers may have
 * kept anything in the register. What memory holds is never trusted further
 * than that a read of it may fail.
 */
#include "weft.bpf.h"

static __always_inline void keep_frame(struct scratch *s, __u64 kind)
{
	/* a waiting thread's may lie past the half that fps has room for */
	if (s->n_heads && !s->lane) {
		/* verifier: the mask, not the budget, bounds the index */
		s->fps[s->n_words & (RECORD_WORDS_MOST / 2 - 1)] = s->fp;
	}
	if (kind == FRAME_UNPROVEN)
		s->rec.flags |= SAMPLE_UNPROVEN;
	emit_word(s, kind << FRAME_KIND_SHIFT | s->pc);
}

/*
 * The first frame of a walk. The sampled pc is true whatever its frame pointer
 * says, so it is kept even where the function at it registered a root: that
 * root's mark follows it. A waiting thread's first frame is a caller like any.
 */
int walk_begin(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	start_cycle_test(s);
	s->step_bytes = 0;
	s->chunk_bytes = 0;
	if (s->lane) {
		if (s->n_heads)
			async_meet_roots(hook);
		keep_frame(s, FRAME_UNPROVEN);
	} else {
		keep_frame(s, FRAME_USER);
		if (s->n_heads)
			async_meet_roots(hook);
	}
	return 1;
}

/* Reads what lies at the frame record s->fp; false: not readable. */
static __always_inline bool load_chunk(struct scratch *s)
{
	__u64 left_in_page = knobs.page_bytes - (s->fp & (knobs.page_bytes - 1));
	__u32 bytes = CHUNK_BYTES;

	if (!s->step_bytes)
		bytes = FIRST_CHUNK_BYTES;
	else if (s->step_bytes <= SHORT_STEP_BYTES)
		bytes = SHORT_CHUNK_BYTES;
	if (s->step_bytes > LONG_STEP_BYTES || left_in_page < FRAME_BYTES)
		bytes = FRAME_BYTES;
	else if (left_in_page < bytes)
		bytes = left_in_page & (CHUNK_BYTES - 1);
	s->chunk_base = s->fp;
	s->chunk_bytes = bytes;
	return read_user(s->chunk, bytes, s->fp);
}

enum step { STEP_TAKEN, STEP_NEEDS_CHUNK, STEP_ENDS };

/* To the caller of the frame at hand; *ending is set when there is none. */
static __always_inline enum step step_up(struct scratch *s, __u32 *ending)
{
	__u64 fp = s->fp;
	__u64 offset = fp - s->chunk_base;
	__u64 ra;

	/* not offset + FRAME_BYTES: what lies below the chunk would wrap to 0 */
	if (s->chunk_bytes < FRAME_BYTES || offset > s->chunk_bytes - FRAME_BYTES)
		return STEP_NEEDS_CHUNK;
	offset &= CHUNK_BYTES - 1;
	if (offset > CHUNK_BYTES - FRAME_BYTES) /* verifier: never */
		return STEP_NEEDS_CHUNK;

	s->fp = *(__u64 *)(s->chunk + offset) & knobs.addr_mask;
	ra = *(__u64 *)(s->chunk + offset + 8) & knobs.addr_mask;
	if (!ra || ra & ~FRAME_ADDR_MASK) {
		*ending = ra ? END_BROKEN : END_START;
		return STEP_ENDS;
	}
	s->pc = ra;
	s->sp = fp + FRAME_BYTES;
	s->step_bytes = s->fp - fp;
	return STEP_TAKEN;
}

/* May s->fp be followed? N_ENDINGS: yes. */
static __always_inline __u32 why_not_up(struct scratch *s)
{
	if (!s->fp) /* at the leaf it is just a register */
		return s->rec.flags & SAMPLE_UNPROVEN ? END_START : END_BROKEN;
	if (s->fp & 7 || s->fp < 4096 || s->fp & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	if (!(s->lane ? s->chain_left : s->frames_left))
		return END_BUDGET;
	if (goes_in_circles(s, s->fp))
		return END_CYCLE;
	return N_ENDINGS;
}

static __always_inline void spend(struct scratch *s)
{
	if (s->lane)
		s->chain_left--;
	else
		s->frames_left--;
}

/* The walk is over, unless a root lies ahead that it can be taken up from. */
__noinline int walk_end(__u32 hook, __u32 ending)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	if (s->n_heads && ending != END_BUDGET && async_take_checkpoint(hook)) {
		s->chunk_bytes = 0;
		return 1;
	}
	for (int k = 0; k < KEYS_MOST; k++) {
		if (k < s->n_heads && s->heads[k].addr)
			s->rec.flags |= SAMPLE_UNMATCHED;
	}
	if (s->lane) {
		async_end_crossing(hook, ending);
	} else {
		s->rec.ending = ending;
		s->rec.n_thread = s->n_words - s->thread_start;
	}
	s->phase = PHASE_ROOT;
	return 1;
}

int walk_chunk(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u32 ending;

	if (!s)
		return 0;
	for (int i = 0; i < WALK_STEPS; i++) {
		enum step step;

		ending = why_not_up(s);
		if (ending != N_ENDINGS)
			return walk_end(hook, ending);
		step = step_up(s, &ending);
		if (step == STEP_NEEDS_CHUNK) {
			if (!load_chunk(s))
				return walk_end(hook, END_UNREADABLE);
			step = step_up(s, &ending);
		}
		if (step != STEP_TAKEN)
			return walk_end(hook, ending);

		spend(s);
		if (s->n_heads)
			async_meet_roots(hook);
		keep_frame(s, FRAME_UNPROVEN);
	}
	return 1;
}
