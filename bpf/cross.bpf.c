// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A waiting thread may wake while its stack is read; it is asked before and after. */
#include "chain.bpf.h"
#include "cross.bpf.h"
#include "roots.bpf.h"
#include "step.bpf.h"
#include "walk.bpf.h"

static __always_inline bool frame_holds(struct bounds_table *all, __u32 word, __u64 fp)
{
	struct frame_bounds *frame_bounds = &all->of[word & (RECORD_WORDS_MAX - 1)];

	return fp - frame_bounds->low < frame_bounds->bytes;
}

/* verifier: as splice_advance() is, a loop in a loop */
#define FIND_STEPS 32

__noinline int cross_find_among(__u32 hook, __u64 fp, __u32 from)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct bounds_table *all = bounds_table(hook);

	if (!s || !all)
		return 0;
	for (int i = 0; i < FIND_STEPS; i++, from++) {
		if (from >= s->rec.n_thread)
			return 0;
		if (frame_holds(all, s->thread_start + from, fp))
			return from + 1;
	}
	return 0;
}

/*
 * The word behind the thread frame in whose memory fp lies; 0: none. Most often it
 * is the dispatcher itself that waits: the frame behind its root's mark.
 */
__noinline int cross_find_frame(__u32 hook, __u64 fp)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct bounds_table *all = bounds_table(hook);
	__u32 first, dispatcher;

	if (!s || !all || !fp)
		return 0;
	first = s->thread_start;
	dispatcher = found_root(s, s->next_root - 1)->mark + 1;
	if (dispatcher - first < s->rec.n_thread && frame_holds(all, dispatcher, fp))
		return dispatcher - first + 1;
	for (__u32 i = 0; i < FRAMES_MAX + 1 + 2 * (MAX_ROOTS + KEYS_MAX);
	     i += FIND_STEPS) {
		int found = cross_find_among(hook, fp, i);

		if (found)
			return found;
	}
	return 0;
}

/*
 * To the caller of the function that waits at root q; false: not readable. Where
 * a frame record lies anywhere in its frame, that function's table says where it
 * ends, and where the chain goes on says which function that is. It must be one
 * whose memory holds the root; else the record alone leads on.
 */
static __always_inline bool leave_waiting(struct scratch *s, __u32 hook,
					  struct async_root *q, __u64 q_addr)
{
	__u64 record[2];

	forget_registers(s);
	if (!FP_GIVES_SP && knobs.tables) {
		s->pc = s->resume_ip;
		s->fp = s->sp = q->fp;
		s->sp_is_least = 1;
		s->chunk_bytes = 0;
		look_up_frame(s, hook);
		if (s->step_kind == STEP_KIND_TABLE &&
		    s->cfa - q_addr < SAME_STACK_BYTES &&
		    step_by_table(s, hook) == STEP_OK)
			return true;
	}
	if (q->fp & 7 || q->fp & ~FRAME_ADDR_MASK ||
	    !read_user(record, sizeof(record), q->fp))
		return false;
	s->fp = record[0] & knobs.addr_mask;
	s->pc = record[1] & knobs.addr_mask & FRAME_ADDR_MASK;
	s->sp = q->fp + FRAME_BYTES;
	return true;
}

/* On to the stack of the thread that waits at root q for this chain. */
static __always_inline bool cross(struct scratch *s, __u32 hook, struct async_root *q,
				  __u64 q_addr)
{
	__u64 place = place_of(s, q, q_addr);
	__u32 target = cross_find_frame(hook, place);

	if (target) {
		if (wants_context() && s->in_view)
			s->view_at = s->thread_start + target;
		close_segment(s, SEGMENT_CHAIN, END_REJOINED, target);
		s->phase = PHASE_ROOT;
		return true;
	}
	if (place != q->fp || !leave_waiting(s, hook, q, q_addr))
		return false;
	close_segment(s, SEGMENT_CHAIN, END_CROSSED, 0);
	if (wants_context() && s->in_view)
		s->view_at = s->n_words;
	open_segment(s);
	s->waiting_root = q_addr;
	s->waiting_node = s->node;
	s->on_waiting_thread = 1;
	for (int k = 1; k < KEYS_MAX; k++)
		s->root_cursors[k].addr = 0;
	load_root_cursor(s, &s->root_cursors[0], q->next);
	s->phase = PHASE_WALK;
	walk_begin(s);
	return true;
}

int cross_end_chain(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u32 ending = END_STALE;
	__u64 q_addr, walked;

	if (!s)
		return 0;
	q_addr = s->frame.root & knobs.addr_mask;
	walked = found_root(s, s->next_root - 1)->addr;

	if (!q_addr || q_addr & 7 || q_addr == walked ||
	    (s->suspended_cookie && q_addr == s->suspended_cookie)) {
		ending = END_DETACHED;
	} else if (read_root(s, &s->waiting, q_addr) && s->waiting.top == s->node) {
		if (cross(s, hook, &s->waiting, q_addr))
			return 1;
		ending = END_UNREADABLE;
	}
	close_segment(s, SEGMENT_CHAIN, ending, 0);
	s->phase = PHASE_ROOT;
	return 1;
}

/* A waiting thread may have woken while its stack was read: then it is no one's. */
int cross_end_stack(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u64 top = 0;
	__u32 ending;

	if (!s)
		return 0;
	ending = s->ending;
	if (!read_user(&top, sizeof(top), s->waiting_root) ||
	    (top & knobs.addr_mask) != s->waiting_node) {
		ending = END_TORN;
		s->view_at = VIEW_NOWHERE;
	}
	close_segment(s, SEGMENT_THREAD, ending, 0);
	return 0;
}
