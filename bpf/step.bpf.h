/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One frame by table, as nearly all of them go: the same mapping as the last,
 * a rule that is remembered, words that were read. All of that is inline, since
 * a call out of one function into another costs some 5 ns where returns are
 * guarded, as much as all that is done here; what else there is lies behind a
 * call (table.bpf.c, bottom.bpf.c).
 */
#ifndef WEFT_STEP_BPF_H
#define WEFT_STEP_BPF_H

#include "beam.bpf.h"
#include "bottom.bpf.h"
#include "hosted.bpf.h"
#include "hotspot.bpf.h"
#include "luajit.bpf.h"
#include "uprobes.bpf.h"

/* Not 0, which would be a thread's start; misaligned, so nothing leads on by it. */
#define FP_UNKNOWN 1

/* 8 bytes of stack into s->word; false: not readable. */
static __always_inline bool stack_word(struct scratch *s, __u32 hook, __u64 addr)
{
	__u64 offset = in_chunk(s, addr, 8);

	if (offset > CHUNK_BYTES - 8)
		return chunk_read(hook, addr);
	s->word = *(__u64 *)(s->chunk + offset);
	return true;
}

/* The sampled pc is true wherever it is; a caller is in code, or is none. */
static __always_inline void set_unmapped(struct scratch *s)
{
	if (s->is_leaf)
		set_pending(s);
	else
		s->step_kind = STEP_KIND_UNMAPPED;
}

/* s->rule's CFA into s->cfa; false: it can't be told. */
static __always_inline bool find_cfa(struct scratch *s, __u32 hook)
{
	__u64 offset = (__s64)s->rule.cfa_offset;

	if (!FP_GIVES_SP && s->sp_is_least)
		return table_find_cfa(hook);
	if (s->rule.cfa == UNWIND_CFA_SP)
		s->cfa = s->sp + offset;
	else if (s->rule.cfa == UNWIND_CFA_FP)
		s->cfa = s->fp + offset;
	else
		return table_find_cfa(hook);
	return true;
}

/* Where the frame at hand is at work. A call may be its function's last instruction, as
 * may a system call in a stub that never returns, but neither is ever its first. */
static __always_inline __u64 code_at(const struct scratch *s)
{
	return s->pc - (!s->is_leaf || s->in_syscall);
}

/* Is what finds frames of the mapping at hand still to come: its table, or the part of a
 * tick that knows LuaJIT's? */
static __always_inline bool is_awaited(const struct scratch *s)
{
	return (!s->mapping.table && !(s->mapping.flags & UNWIND_BY_FP)) ||
	       (!has_part(PART_LUAJIT) && s->mapping.flags & UNWIND_LUAJIT);
}

/* Is it code beside a host, and not the host's own? */
static __always_inline bool is_hosted(const struct scratch *s)
{
	return s->mapping.flags & UNWIND_HOST &&
	       (is_generated(s) || s->mapping.flags & UNWIND_HOST_OF_FILES);
}

/* Of code that no rule tells of. */
static __always_inline void try_code(struct scratch *s, __u32 hook)
{
	bottom_try_code(hook);
	if (s->step_kind != STEP_KIND_FP || !is_hosted(s))
		return;
	if (!has_part(PART_HOSTED))
		set_pending(s);
	else if (hosted_try_frame(hook))
		beam_try_frame(hook);
}

static __always_inline bool ends_here(const struct scratch *s)
{
	return s->rule.cfa == UNWIND_CFA_END || s->rule.cfa == UNWIND_CFA_TORN;
}

/* How the frame at hand ends and leads on: s->step_kind, s->cfa, s->rule. */
static __always_inline void look_up_frame(struct scratch *s, __u32 hook)
{
	__u64 at = code_at(s);
	int found;

	s->step_kind = STEP_KIND_FP;
	s->cfa = s->fp + FRAME_BYTES;
	s->call = CALL_BEFORE;
	if (at - s->mapping.start >= s->mapping.end - s->mapping.start) {
		found = table_find_mapping(hook, at);
		if ((!found || !s->mapping.table) && uprobes_find_pc(hook)) {
			at = code_at(s);
			found = table_find_mapping(hook, at);
		}
		if (!found) {
			set_unmapped(s);
			return;
		}
	}
	if (knobs.faults & FAULT_FP_LEAF && s->is_leaf)
		return;
	if (knobs.faults & FAULT_LATE_TABLES && !(s->mapping.flags & UNWIND_BY_FP)) {
		set_pending(s);
		return;
	}
	if (s->mapping.flags & UNWIND_KEEPS_FP && !s->is_leaf) {
		s->step_kind = STEP_KIND_PROVEN_FP;
		/* at a stack's end, or at a made one's: its rule knows of the call */
		if (s->fp - s->sp >= SAME_STACK_BYTES &&
		    (rule_cache_get(s, at) || table_find_rule(hook, at)) &&
		    s->rule.cfa == UNWIND_CFA_END)
			s->step_kind = STEP_KIND_END;
		return;
	}
	if (is_awaited(s)) {
		set_pending(s);
		return;
	}
	found = s->mapping.table && (rule_cache_get(s, at) || table_find_rule(hook, at));
	if (s->mapping.flags & UNWIND_LUAJIT)
		found = luajit_find(hook, found);
	if (!found) {
		if (s->mapping.table || !has_part(PART_HOTSPOT) || !s->has_hotspot ||
		    !hotspot_look_up(hook))
			try_code(s, hook);
		return;
	}
	if (!ends_here(s) && find_cfa(s, hook))
		s->step_kind = s->rule.cfa == UNWIND_CFA_SIGNAL ? STEP_KIND_SIGNAL
								: STEP_KIND_TABLE;
	else if (ends_here(s)) /* perhaps as was found out only now */
		s->step_kind = STEP_KIND_END;
	else
		s->cfa = s->fp + FRAME_BYTES;
}

/* arm64's upper bits may be a signature, and are not there any more in an address. */
#define PLACEHOLDER_BITS (FP_GIVES_SP ? 64 : 48)

/* A number of 16 bits four times over, whose bytes differ, and are no 0 (as in text of
 * wide characters): nobody fills memory so. */
static __always_inline bool is_placeholder(__u64 word)
{
	__u8 low = word, high = word >> 8;

	return (word ^ (__u16)word * 0x0001000100010001ULL) << (64 - PLACEHOLDER_BITS) ==
		       0 &&
	       low != high && low && high;
}

/* A true step led to what is no address. Behind one that nothing proves it may be any
 * word. */
static __always_inline __u32 end_by_word(const struct scratch *s, __u64 word)
{
	if (!word)
		return s->is_unproven ? END_FP_ZERO : END_START;
	return is_placeholder(word) && !s->is_unproven && !s->leads ? END_FIBER
								    : END_BROKEN;
}

/* Does a frame pointer lead to another stack than the frame at hand is on? That may be a
 * dead one's: who makes a stack within a function, and resumes it by a jump, leaves it
 * there. */
static __always_inline bool ends_far_away(const struct scratch *s, __u64 end)
{
	return end - s->sp + CHECKPOINT_BYTES >= 2 * CHECKPOINT_BYTES;
}

/* Which registers of the sampled frame does the caller have, to whom s->rule leads? */
static __always_inline void note_registers(struct scratch *s)
{
	__u32 here = s->rule.cfa <= UNWIND_CFA_FP ? (__u16)s->rule.deref_offset : 0;

	s->left_alone = s->is_leaf ? here : s->left_alone & here;
	s->from_leaf = s->is_leaf;
}

/* To the caller of the frame at hand; an ending, or STEP_OK: there. */
static __always_inline __u32 step_by_table(struct scratch *s, __u32 hook)
{
	__u64 fp, pc;

	if (s->step_kind == STEP_KIND_END)
		return END_START;
	if (s->step_kind == STEP_KIND_SIGNAL)
		return table_leave_handler(hook);
	fp = s->fp;
	if (s->rule.fp == UNWIND_FP_LOST) {
		fp = FP_UNKNOWN;
	} else if (s->rule.fp != UNWIND_FP_SAME) {
		if (!stack_word(s, hook,
				(s->rule.fp == UNWIND_FP_CFA  ? s->cfa
				 : s->rule.fp == UNWIND_FP_SP ? s->sp
							      : s->fp) +
					8 * (__s64)s->rule.fp_words))
			return END_UNREADABLE;
		fp = FP_OF(s->word);
	}
	if (s->rule.ra == UNWIND_RA_LR) {
		if (!s->is_leaf)
			return END_BROKEN;
		pc = s->lr;
	} else if (s->rule.ra == UNWIND_RA_REG && s->rule.cfa == UNWIND_CFA_GO) {
		pc = s->go_pc;
	} else if (s->rule.ra == UNWIND_RA_REG) {
		if (!s->is_leaf || s->regs_at || (__u16)s->rule.ra_words >= USER_REGS)
			return END_BROKEN;
		pc = s->regs[s->rule.ra_words & (USER_REGS - 1)];
	} else {
		if (!stack_word(s, hook,
				(s->rule.ra == UNWIND_RA_FP ? s->fp : s->cfa) +
					8 * (__s64)s->rule.ra_words))
			return END_UNREADABLE;
		pc = s->word & knobs.addr_mask;
	}
	if (!pc || pc & ~FRAME_ADDR_MASK)
		return end_by_word(s, pc);
	if (s->rule.bx_words)
		s->bx_at = s->rule.bx_words == UNWIND_BX_LOST
				   ? BX_UNKNOWN
				   : s->cfa + 8 * (__s64)s->rule.bx_words;
	/* __morestack's frame has its own return address, to which it does not return, in
	 * it as well: who called has called whom it works for */
	s->strays = s->rule.cfa == UNWIND_CFA_FP && !s->leads &&
		    s->rule.cfa_offset == FRAME_BYTES && ends_far_away(s, s->cfa);
	s->pc = pc;
	s->step_bytes = s->cfa - s->sp;
	s->sp = s->cfa;
	s->fp = fp;
	note_registers(s);
	/* a goroutine's registers are kept as they were; its frame may be empty, and ends
	 * then where this one did */
	s->is_leaf = !FP_GIVES_SP && s->rule.ra == UNWIND_RA_REG &&
		     s->rule.cfa == UNWIND_CFA_GO;
	if (s->is_leaf)
		start_cycle_test(s);
	if (!FP_GIVES_SP)
		s->sp_is_least = 0;
	return STEP_OK;
}

#endif
