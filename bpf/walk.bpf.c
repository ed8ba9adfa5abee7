// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Down a thread's stack. A frame is (pc, sp, fp, cfa): where it runs, where its
 * memory begins, the frame pointer that its code sees, and where its memory
 * ends; how it leads to its caller says table.bpf.c, or without tables the frame
 * pointer.
 *
 * Stack memory is read in chunks, since one read of 1 KiB costs little more than
 * one of 16 bytes; how large, the last step says. They end with their page: what
 * is not resident must not cost the frames that are.
 *
 * A caller found by a frame pointer that nothing proves is UNPROVEN: code
 * without frame pointers may have kept anything in the register. What memory
 * holds is never trusted further than that a read of it may fail.
 */
#include "process.bpf.h"
#include "records.bpf.h"
#include "roots.bpf.h"
#include "step.bpf.h"
#include "walk.bpf.h"

/* What a frame that interprets a method is called: after that. A leaf keeps its pc, too,
 * and who may be no caller. */
static __always_inline void emit_method(struct scratch *s, __u32 hook)
{
	__u64 word = (__u64)FRAME_METHOD << FRAME_KIND_SHIFT | s->method;

	s->method = 0;
	if (s->kind == FRAME_CALLER) {
		emit_word(s, word);
		return;
	}
	emit_word(s, (__u64)s->kind << FRAME_KIND_SHIFT | s->pc);
	if ((s->kind != FRAME_USER && s->kind != FRAME_UNPROVEN) || !budget(s))
		return;
	charge(s, 1);
	if (has_root_cursors(s))
		keep_bounds(s, hook, 0, 0);
	emit_word(s, word);
}

static __always_inline void keep_frame(struct scratch *s, __u32 hook)
{
	if (has_root_cursors(s))
		keep_bounds(s, hook, s->frame_bounds.low, s->frame_bounds.bytes);
	if (s->kind == FRAME_UNPROVEN) {
		s->rec.flags |= SAMPLE_UNPROVEN;
		s->is_unproven = 1;
	}
	if (has_part(PART_HOTSPOT) && s->method)
		emit_method(s, hook);
	else
		emit_word(s, (__u64)s->kind << FRAME_KIND_SHIFT | s->pc);
}

/*
 * The memory of the frame at hand. Where a frame's end does not follow from its
 * beginning (by frame pointer over the bounds of a stack, be it a table that says
 * so, or as a table says of a switch), it is that of its frame record. Behind the
 * start of a fiber sp is that of another stack, and fp is true.
 */
static __always_inline void measure_frame(struct scratch *s)
{
	__u64 low, record;

	low = s->sp;
	record = s->cfa - FRAME_BYTES;
	if (s->step_kind == STEP_KIND_TABLE &&
	    (s->rule.cfa == UNWIND_CFA_SP ||
	     (!FP_GIVES_SP && s->rule.cfa == UNWIND_CFA_FP))) {
		if (!FP_GIVES_SP && (s->sp_is_least || s->rule.cfa == UNWIND_CFA_FP) &&
		    s->fp - low > SAME_STACK_BYTES)
			low = s->fp;
		if (s->cfa - low > CHECKPOINT_BYTES)
			low = record;
	} else if (record < low || record - low > SAME_STACK_BYTES) {
		low = record;
	}
	s->frame_bounds.low = low;
	s->frame_bounds.bytes = s->cfa - low;
	if (s->step_kind != STEP_KIND_FP && s->step_kind != STEP_KIND_PROVEN_FP &&
	    s->step_kind != STEP_KIND_TABLE)
		s->frame_bounds.bytes = 0;
}

/* Does the frame at hand lead on by a rule that its code is there for, to the stack whose
 * pointer it keeps? Then no call need have led to it, nor to where that leads. The
 * frames that gcc realigns are none of these. */
static __always_inline __u32 leads(struct scratch *s)
{
	if (s->step_kind != STEP_KIND_TABLE || s->rule.cfa > UNWIND_CFA_DEREF_TWICE)
		return LEADS_NOWHERE;
	if (s->rule.ra == UNWIND_RA_FP || s->rule.reg == UNWIND_LEADS)
		return LEADS_TO_RESUMER;
	return s->rule.cfa > UNWIND_CFA_FP && s->rule.fp != UNWIND_FP_DEREF &&
			       s->rule.reg != UNWIND_BY_CODE
		       ? LEADS_AWAY
		       : LEADS_NOWHERE;
}

static __always_inline void note_lead(struct scratch *s)
{
	__u32 led = s->leads;

	if (led)
		s->begun_sp = s->sp;
	s->leads = leads(s);
	if (s->kind == FRAME_CALLER && (led || s->leads))
		s->kind = led == LEADS_TO_RESUMER ? FRAME_RESUMER : FRAME_LAUNCH;
}

/* Where the frame at hand ends, and how it leads on. */
static __always_inline void look_at_frame(struct scratch *s, __u32 hook, bool by_table)
{
	if (by_table) {
		look_up_frame(s, hook);
		if (s->leads || (s->step_kind == STEP_KIND_TABLE &&
				 (s->rule.reg || s->rule.cfa > UNWIND_CFA_FP)))
			note_lead(s);
		if (s->step_kind == STEP_KIND_SIGNAL && !s->in_syscall)
			s->kind = FRAME_USER; /* the handler returns to it */
		if (s->strays && s->call == CALL_BEFORE)
			s->call = CALL_OF_OTHERS;
		if (s->call != CALL_BEFORE && s->kind == FRAME_CALLER)
			bottom_doubt_caller(hook);
	} else {
		s->step_kind = STEP_KIND_FP;
		s->cfa = s->fp + FRAME_BYTES;
	}
	if (s->in_syscall == IN_SYSCALL_THAT_BEGAN_IT) { /* whatever a rule says */
		s->step_kind = STEP_KIND_END;
		s->rule.cfa = UNWIND_CFA_END;
	}
	if (has_root_cursors(s))
		measure_frame(s);
}

/* Does a frame pointer that nothing proves lead to another stack than that of the frame
 * at hand, to an address that nobody called from? Then it is some data's. Who generates
 * code uses the register as he likes (PyPy for what replaces a stack), and may keep data
 * where his code is. */
static __always_inline bool leads_astray(const struct scratch *s, __u64 fp, __u64 ra)
{
	return knobs.tables && s->step_kind == STEP_KIND_FP &&
	       fp - s->sp + SAME_STACK_BYTES >= 2 * SAME_STACK_BYTES &&
	       !table_is_called(ra);
}

/* To the caller of the frame at hand by its frame record; an ending, or
 * STEP_OK: there. */
static __always_inline __u32 frame_pointer_step(struct scratch *s)
{
	__u64 fp = s->fp, offset = in_chunk(s, fp, FRAME_BYTES);
	__u64 ra;

	if (offset > CHUNK_BYTES - FRAME_BYTES) {
		if (!load_chunk(s, fp, FRAME_BYTES))
			return END_UNREADABLE;
		offset = 0;
	}
	s->fp = FP_OF(*(__u64 *)(s->chunk + offset));
	ra = *(__u64 *)(s->chunk + offset + 8) & knobs.addr_mask;
	if (!ra)
		return END_FP_ZERO;
	if (ra & ~FRAME_ADDR_MASK)
		return s->step_kind == STEP_KIND_PROVEN_FP ? end_by_word(s, ra)
							   : END_BROKEN;
	if (leads_astray(s, fp, ra))
		return END_BROKEN;
	s->strays = ends_far_away(s, fp);
	s->pc = ra;
	s->sp = fp + FRAME_BYTES;
	s->step_bytes = s->fp - fp;
	forget_registers(s);
	if (!FP_GIVES_SP)
		s->sp_is_least = 1;
	return STEP_OK;
}

/* By the record of an older frame, to that one's caller. It may have a root. */
static __always_inline __u32 step_over_frames(struct scratch *s, __u32 hook)
{
	__u64 record = s->fp;
	__u32 ending = frame_pointer_step(s);

	if (ending != STEP_OK)
		return ending;
	charge(s, 1);
	s->kind = FRAME_UNPROVEN;
	s->frame_bounds.low = record;
	s->frame_bounds.bytes = FRAME_BYTES;
	roots_mark_gap(hook, END_NO_USER);
	return STEP_OK;
}

static __always_inline __u32 step_up(struct scratch *s, __u32 hook, bool by_table)
{
	bool is_guess = !FP_GIVES_SP && s->sp_is_least;
	__u32 ending;

	/* without tables there is nothing else, but behind a gap a root's own */
	if (!by_table || s->step_kind == STEP_KIND_FP ||
	    s->step_kind == STEP_KIND_PROVEN_FP) {
		s->kind = s->step_kind == STEP_KIND_FP ? FRAME_UNPROVEN : FRAME_CALLER;
		return frame_pointer_step(s);
	}
	if (s->step_kind == STEP_KIND_OLDER_FP)
		return step_over_frames(s, hook);
	is_guess |= s->rule.cfa == UNWIND_CFA_SP && s->rule.reg == UNWIND_GUESSED;
	ending = step_by_table(s, hook);
	s->kind = is_guess ? FRAME_UNPROVEN : FRAME_CALLER;
	if (s->is_leaf)
		s->kind = FRAME_USER;
	return ending;
}

/* Why nothing leads on from the frame at hand. */
static __always_inline __u32 why_at_end(struct scratch *s)
{
	if (s->step_kind == STEP_KIND_END)
		return s->rule.cfa == UNWIND_CFA_TORN ? END_TORN : END_START;
	if (s->step_kind == STEP_KIND_PENDING)
		return END_AWAITED;
	if (s->step_kind == STEP_KIND_BOTTOM)
		return END_FIBER;
	if (s->step_kind == STEP_KIND_HIDDEN)
		return END_UNREADABLE;
	return END_BROKEN; /* nowhere, as a waiting thread's first */
}

/*
 * Was the frame at hand, behind a handler, left for good? No thread can have another
 * alternate stack while it runs on it. Who makes a stack by a signal gives it another
 * once its handler has returned, and comes back to that by a jump.
 */
static __always_inline bool was_left(struct scratch *s, __u32 hook)
{
	return s->step_kind == STEP_KIND_SIGNAL && !s->on_waiting_thread &&
	       table_on_alternate(hook) && !process_has_alternate(hook);
}

/*
 * May the frame at hand be left for its caller? STEP_OK: yes. A stack that waits may be
 * a fiber's, left while its thread runs on: who resumed it last is known to the frame
 * where it began, and is not there any more.
 */
static __always_inline __u32 check_step(struct scratch *s, __u32 hook)
{
	bool over = s->step_kind == STEP_KIND_OLDER_FP;
	bool by_fp = s->step_kind == STEP_KIND_FP ||
		     s->step_kind == STEP_KIND_PROVEN_FP || over;
	__u64 at = by_fp ? s->fp : s->cfa;

	if (s->step_kind >= STEP_KIND_END && !over)
		return why_at_end(s);
	if ((s->leads && s->on_waiting_thread) || was_left(s, hook))
		return END_FIBER;
	if (by_fp && !at) { /* of an interrupted frame it is just a register */
		if (s->is_leaf)
			return END_BROKEN;
		return s->step_kind == STEP_KIND_PROVEN_FP ? end_by_word(s, 0)
							   : END_FP_ZERO;
	}
	if (at & 7 || at < 4096 || at & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	/* a gap costs one */
	if (budget(s) <= over)
		return END_BUDGET;
	/* not `at`: a frame's end by table may be its caller's frame record */
	if (cycle_found(s, s->cfa))
		return END_CYCLE;
	return STEP_OK;
}

/* Lost, or at an end above a root that must still come: a gap, then on from the nearest
 * root ahead. */
static __always_inline bool take_checkpoint(struct scratch *s, __u32 hook, __u32 ending)
{
	bool at_bottom = ending == END_FIBER || s->step_kind == STEP_KIND_HIDDEN;
	__u32 nearest = roots_find_nearest(hook, at_bottom && !s->on_waiting_thread);

	if (nearest >= KEYS_MAX)
		return false;
	s->begun_sp = s->fp = s->sp = s->root_cursors[nearest].root.fp;
	s->cfa = s->fp + FRAME_BYTES;
	s->step_kind = STEP_KIND_PROVEN_FP;
	s->leads = 0;
	s->strays = 0;
	s->is_unproven = 0;
	forget_registers(s);
	measure_frame(s);
	roots_mark_gap(hook, ending); /* and all that this function registered */
	start_cycle_test(s);
	s->chunk_bytes = 0;
	return true;
}

/*
 * What seems to be a start. Near the base of a thread's own stack a return address of 0
 * alone is none: what began there says that nobody called it, or ends the thread. The
 * frame has more on the stack than its rule knows of, and 0 is another word of it.
 */
static __always_inline __u32 why_at_start(struct scratch *s, __u32 hook)
{
	__u32 base = process_find_base(hook);

	if (base == BASE_AWAY)
		return END_FIBER;
	return base == BASE_NEAR && s->step_kind == STEP_KIND_TABLE &&
			       !bottom_ends_thread(hook)
		       ? END_BROKEN
		       : END_START;
}

/*
 * A frame pointer of 0, in code that no rule tells of: it ends the thread, or has set
 * that itself, as who begins a stack that he made does, so that nobody goes on there.
 * Or a return address of 0 in a true frame record, which near the base is not enough, as
 * by a rule.
 */
static __always_inline __u32 why_at_zero(struct scratch *s, __u32 hook)
{
	bool by_record = s->step_kind == STEP_KIND_PROVEN_FP && !s->is_unproven;
	__u32 base;

	if (s->mapping.table && bottom_ends_thread(hook))
		return END_START;
	if (!by_record && (s->step_kind != STEP_KIND_FP || !bottom_zeroes_fp(hook)))
		return END_FP_ZERO;
	base = process_find_base(hook);
	if (by_record && base == BASE_BELIEVED)
		return END_START;
	return base == BASE_AWAY ? END_FIBER : END_FP_ZERO;
}

/* Is the frame at hand on the thread's own stack, though a word of no address, or one
 * that nobody called from, said that its stack was made by hand? Tracers put such words
 * in the place of return addresses. */
static __always_inline bool is_on_own_stack(struct scratch *s, __u32 hook)
{
	if (s->step_kind == STEP_KIND_BOTTOM)
		return process_find_base(hook) == BASE_NEAR;
	return (s->step_kind <= STEP_KIND_TABLE || s->step_kind == STEP_KIND_UNMAPPED) &&
	       process_find_base(hook) != BASE_AWAY;
}

__noinline int walk_end(__u32 hook, __u32 ending)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	if (ending == END_START && !s->on_waiting_thread)
		ending = why_at_start(s, hook);
	else if (ending == END_FIBER && !s->on_waiting_thread && !s->strays &&
		 is_on_own_stack(s, hook))
		ending = END_BROKEN;
	if (ending == END_FP_ZERO && knobs.tables)
		ending = why_at_zero(s, hook);
	/* what is not mapped as far as is known may be so since */
	if (s->step_kind == STEP_KIND_UNMAPPED && ending == END_BROKEN &&
	    process_maps_more(hook)) {
		s->rec.flags |= SAMPLE_AWAITED;
		ending = END_AWAITED;
	}
	if (has_root_cursors(s) && ending != END_BUDGET &&
	    take_checkpoint(s, hook, ending))
		return 1;
	s->ending = ending;
	s->phase = PHASE_WALKED;
	return 1;
}

/* Where no code is, nobody called from; but who made a stack may have put it there. */
static __always_inline __u32 why_unmapped(const struct scratch *s)
{
	return s->kind == FRAME_CALLER ? end_by_word(s, s->pc) : END_BROKEN;
}

/*
 * Kept, with the roots that it registered. These are marked before a caller, but behind
 * the sampled frame: its pc is true whatever its frame pointer says.
 */
static __always_inline void take_frame(struct scratch *s, __u32 hook, bool is_sampled)
{
	if (!is_sampled)
		roots_check_frame(s, hook);
	keep_frame(s, hook);
	if (is_sampled && has_root_cursors(s))
		roots_mark(hook);
	s->in_syscall = 0; /* nor is who was interrupted by a signal */
	s->is_first = 0;
}

/* To the first frame of a stack, or one on; an ending, or STEP_OK: there. by_table is a
 * constant. The first frames go the way of all: code that a tick is the first to run
 * costs as much as data that it is the first to read. */
static __always_inline __u32 walk_on(struct scratch *s, __u32 hook, bool by_table)
{
	__u32 ending;

	if (!s->is_first) {
		ending = check_step(s, hook);
		if (ending == STEP_OK)
			ending = step_up(s, hook, by_table);
		if (ending != STEP_OK)
			return ending;
		charge(s, 1);
	}
	look_at_frame(s, hook, by_table);
	if (by_table && s->step_kind == STEP_KIND_UNMAPPED && !s->is_first)
		return why_unmapped(s);
	take_frame(s, hook, s->is_first && !s->on_waiting_thread);
	return STEP_OK;
}

/* verifier: tables have many ways to go, which a loop would multiply */
__noinline int walk_on_by_table(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u32 ending;

	if (!s)
		return END_BROKEN;
	ending = walk_on(s, hook, true);
	if (ending == STEP_OK && records_lead_on(s))
		records_follow(hook);
	return ending;
}

int walk_chunk(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u32 ending;

	if (!s)
		return 0;
	for (int i = 0; i < WALK_STEPS; i++) {
		ending = knobs.tables ? walk_on_by_table(hook) : walk_on(s, hook, false);
		if (ending != STEP_OK)
			return walk_end(hook, ending);
	}
	return 1;
}
