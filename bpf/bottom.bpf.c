// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a stack ends that was made by hand. Its maker put an address below its first
 * function that nobody called from: the code before it says so. What ends there is
 * whole, and nothing that lies behind is a caller, wherever words or registers lead.
 *
 * A frame whose own rule leads on is not asked, nor are files into which some return
 * without a call (UNWIND_CALLS).
 */
#include "begin.bpf.h"
#include "bottom.bpf.h"
#include "leaf.bpf.h"

/* What goes on by taking its frame down and returning says where its caller is. */
static __always_inline void try_return(struct scratch *s, __u64 code)
{
	if (!drops_and_returns(code, &s->rule))
		return;
	s->cfa = s->sp + (__s64)s->rule.cfa_offset;
	s->step_kind = STEP_KIND_TABLE;
}

/*
 * In a file that has rules, code without one, to which a true step led: a signal
 * handler's return, or what lies behind a call, or none called from there. Such an
 * address is put below the first function of a stack that is made by hand.
 */
static __always_inline void try_caller(struct scratch *s)
{
	struct code_around code = { 0 };

	if (!read_user(&code, CODE_BEFORE + RESTORER_BYTES, s->pc - CODE_BEFORE))
		s->step_kind = is_restorer(s->pc)		 ? STEP_KIND_SIGNAL
			       : s->mapping.flags & UNWIND_CALLS ? STEP_KIND_HIDDEN
								 : STEP_KIND_FP;
	else if (restores(code.after))
		s->step_kind = STEP_KIND_SIGNAL;
	else if (!call_ends(code.before))
		s->step_kind = STEP_KIND_BOTTOM;
	else
		try_return(s, code.after[0]);
	if (s->step_kind == STEP_KIND_BOTTOM || s->step_kind == STEP_KIND_HIDDEN)
		s->kind = FRAME_BOTTOM;
}

/* In code that was generated, or without a call that led there. */
static __always_inline void try_generated(struct scratch *s)
{
	__u64 code[2] = { 0 };

	if (!read_user(code, RESTORER_BYTES, s->pc))
		return;
	if (restores(code))
		s->step_kind = STEP_KIND_SIGNAL;
	else
		try_return(s, code[0]);
}

#define FUNCTION_BYTES (64ULL << 10)
#define ROWS_BACK      16 /* of a function's that are looked at */
#define FIRST_WORDS    4  /* of a function's code that are looked at */

/* Does the function there go on in another one, perhaps? */
static __always_inline bool jumps_on(struct scratch *s, __u64 function)
{
	__u64 found = 0;

	s->chunk_bytes = 0;
	if (!read_user(s->chunk, FIRST_WORDS * 8, function))
		return true;
	for (int i = 0; i < FIRST_WORDS; i++)
		found |= may_jump(((const __u64 *)s->chunk)[i]);
	return found;
}

/* The nearest row behind `begin`, and at or before the one that was found last, of `pc`,
 * that is not one within a function; ROW_WITHIN: too far back. */
static __always_inline int row_back(struct scratch *s, __u32 hook, __u64 begin, __u64 pc)
{
	int row;

	for (__u32 i = 1; i <= ROWS_BACK; i++) {
		row = table_look_back(hook, s->low - i, begin, pc - s->in_block);
		if (row != ROW_WITHIN)
			return row;
	}
	return ROW_WITHIN;
}

/*
 * Is the code at `pc`, of the frame below, in the function that begins there? In doubt
 * it is.
 *
 * Near, it is in another one if a function begins between them.
 *
 * Elsewhere, if what it is in begins with a first row, where compilers let functions
 * begin. A part (.cold, where exceptions are cleaned up after) has an entry of its own,
 * which begins as deep as the function was when it left the rest, and anywhere. No row
 * says whose part that is.
 */
static __always_inline bool is_in_function(struct scratch *s, __u32 hook, __u64 begin,
					   __u64 pc)
{
	bool is_near = pc - begin < FUNCTION_BYTES, is_other = false;
	struct unwind_rule rule = s->rule;
	int row;

	if (pc - s->mapping.start >= s->mapping.end - s->mapping.start)
		return false;
	s->rule_key = 0; /* that of `pc` is not to be remembered as this frame's */
	if (table_find_rule(hook, pc)) {
		row = row_back(s, hook, is_near ? begin : 0, pc);
		is_other = is_near ? row != ROW_WITHIN && row != ROW_NONE
				   : row == ROW_FIRST_ALIGNED;
	}
	s->rule = rule;
	return !is_other;
}

/*
 * Of a return address that is a function's first byte: is the call before it, the last
 * thing that another function does, that of the frame below? If it leads elsewhere it is
 * there by chance.
 */
static __always_inline __u32 doubt_first_byte(struct scratch *s, __u32 hook)
{
	__u64 below = s->words[(s->n_words - 1) & (RECORD_WORDS_MAX - 1)];
	__u64 code, function, in_below;

	if (!read_user(&code, sizeof(code), s->pc - sizeof(code)))
		return STEP_KIND_HIDDEN;
	if (!call_target(code, s->pc, &function))
		return s->step_kind;
	/* a return address may be the first byte of what lies behind its function */
	in_below = FRAME_ADDR(below) - (FRAME_KIND(below) != FRAME_USER);
	if (FRAME_KIND(below) > FRAME_SYSCALL || FRAME_KIND(below) == FRAME_BOTTOM ||
	    FRAME_KIND(below) == FRAME_LABEL ||
	    is_in_function(s, hook, function, in_below) || jumps_on(s, function))
		return s->step_kind;
	return STEP_KIND_BOTTOM;
}

int bottom_doubt_caller(__u32 hook)
{
	struct scratch *s = scratch(hook);
	bool is_known;

	/* where a register is lost, an older frame's pointer leads on, if any */
	if (!s || (s->step_kind > STEP_KIND_TABLE && s->step_kind != STEP_KIND_OLDER_FP))
		return 0;
	is_known = s->step_kind == STEP_KIND_TABLE || s->step_kind == STEP_KIND_PROVEN_FP;
	if (s->call == CALL_NONE && !is_restorer(s->pc))
		s->step_kind = STEP_KIND_BOTTOM;
	else if (s->call == CALL_OF_OTHERS && is_known)
		s->step_kind = doubt_first_byte(s, hook);
	if (s->step_kind == STEP_KIND_BOTTOM || s->step_kind == STEP_KIND_HIDDEN)
		s->kind = FRAME_BOTTOM;
	return 0;
}

int bottom_try_code(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	/* what the frame before led to by its own rule need not have called */
	if (s->is_leaf)
		leaf_try_code(hook);
	else if (!is_generated(s) && s->kind == FRAME_CALLER && !s->leads)
		try_caller(s);
	else
		try_generated(s);
	if (s->step_kind == STEP_KIND_SIGNAL) {
		s->rule.cfa = UNWIND_CFA_SIGNAL;
		table_find_cfa(hook);
	}
	return 0;
}

int bottom_ends_thread(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u8 code[EXIT_BYTES] = { 0 };

	return s && read_user(code, sizeof(code), s->pc) && ends_thread(code);
}

int bottom_zeroes_fp(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u8 code[BEGIN_BYTES] = { 0 };

	return s && read_user(code, sizeof(code), s->pc - sizeof(code)) &&
	       zeroes_fp(code);
}
