// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/switched.h"

#include "obj/x86_insn.h"
#include "unwind/x86_frame.h"
#include "unwind/x86_pieces.h"
#include "unwind/x86_stack.h"

#define PLACE_BYTES 8
#define N_REGS	    16
#define NO_PLACE    INT32_MIN /* a place that is not known */
#define SKIPPED_MAX 64	      /* bytes */
#define FAR	    4096      /* bytes: a switch keeps a few hundred */

/* It moves no stack pointer, and writes no register, nor memory from one. */
static bool is_idle(const struct x86_effect *is)
{
	return is->sp == X86_SP_MOVED && !is->pushed && !is->writes && !is->leaves &&
	       !is->jumps && is->way != X86_STORES;
}

bool switched_is_skip(const uint8_t *code, size_t at, size_t end)
{
	bool calls;
	size_t n = x86_insn_bytes(code + at, end - at, &calls);
	struct x86_effect is;
	int64_t left;

	if (!n || x86_insn_condition(code + at, n) < 0 ||
	    !x86_insn_distance(code + at, n, &left) || left > SKIPPED_MAX)
		return false;
	for (at += n; left > 0; at += n, left -= (int64_t)n) {
		n = at < end ? x86_insn_bytes(code + at, end - at, &calls) : 0;
		if (!n || calls)
			return false;
		is = x86_effect(code + at, n);
		if (!is_idle(&is))
			return false;
	}
	return left == 0;
}

/* What is known before an instruction. Places count from where the stack pointer was
 * loaded. */
struct point {
	size_t at;
	int sp;
	bool has_fp; /* it is the other stack's by now, from there or elsewhere */
};

struct other_stack {
	const uint8_t *code;
	struct point now, points[SWITCHED_ROWS_MAX]; /* where something changed */
	size_t n_points;
	int holds[N_REGS]; /* each register what was loaded from there */
	int cfa, ra;	   /* what comes of it */
	int ra_reg;	   /* by which it leaves, or X86_NO_REG */
	int fp;		   /* where the frame pointer was loaded from */
	int called_at;	   /* the stack pointer at a call, if there is one */
};

/* jmp *%reg; X86_NO_REG: another. */
static int jumps_to(const uint8_t *code, size_t n)
{
	bool has_rex = n > 2 && (code[n - 3] & 0xf0) == 0x40;

	if (n < 2 || code[n - 2] != 0xff || (code[n - 1] & 0xf8) != 0xe0)
		return X86_NO_REG;
	return (code[n - 1] & 7) + (has_rex && code[n - 3] & 1 ? 8 : 0);
}

/* From there, all of it, into a register that is followed. */
static bool loads(const struct x86_effect *is)
{
	return is->way == X86_LOADS && is->base == X86_SP && is->reg >= 0 &&
	       is->reg < N_REGS;
}

static void note_load(struct other_stack *on, const struct x86_effect *is)
{
	for (int reg = 0; reg < N_REGS; reg++)
		if (is->writes >> reg & 1)
			on->holds[reg] = NO_PLACE;
	if (loads(is))
		on->holds[is->reg] = on->now.sp + is->distance;
	if (loads(is) && is->reg == X86_FP)
		on->fp = on->holds[X86_FP];
}

/* The word that it returns by was there before, and nothing was put in its place. */
static bool note_end(struct other_stack *on, const struct x86_effect *is,
		     const uint8_t *code, size_t n)
{
	on->ra_reg = is->returns ? X86_NO_REG : jumps_to(code, n);
	if (on->ra_reg != X86_NO_REG)
		on->ra = on->holds[on->ra_reg];
	else
		on->ra = is->returns ? on->now.sp : NO_PLACE;
	on->cfa = is->returns ? on->now.sp + PLACE_BYTES : on->now.sp;
	return on->ra >= 0 && on->ra % PLACE_BYTES == 0 && on->cfa % PLACE_BYTES == 0 &&
	       on->ra < on->cfa && on->cfa <= FAR &&
	       (on->called_at == NO_PLACE ||
		(on->cfa - on->called_at) % X86_CALL_ALIGN == 0);
}

static bool note_point(struct other_stack *on)
{
	if (on->n_points == SWITCHED_ROWS_MAX)
		return false;
	on->points[on->n_points++] = on->now;
	return true;
}

/* One instruction that does not leave; false: there is no telling. */
static bool read_one(struct other_stack *on, const struct x86_effect *is, size_t end)
{
	bool changes = is->pushed || is->writes_fp;
	bool stores = is->way == X86_STORES && is->base == X86_SP;
	bool loads_fp = is->way == X86_LOADS && is->reg == X86_FP,
	     loses_fp = is->writes_fp && (!loads_fp || on->now.has_fp);

	if (is->jumps || is->sp != X86_SP_MOVED || is->pushed > 0 || stores || loses_fp)
		return false;
	note_load(on, is);
	on->now.sp -= is->pushed;
	on->now.has_fp |= is->writes_fp;
	on->now.at = end;
	return !changes || note_point(on);
}

/* As Argobots' switches do, there already: what comes back comes back to this stack. */
static bool note_call(struct other_stack *on)
{
	bool is_alone = on->called_at == NO_PLACE;

	on->called_at = on->now.sp;
	return is_alone;
}

static bool read_all(struct other_stack *on, size_t begin, size_t end)
{
	struct x86_effect is;
	bool calls;

	for (size_t at = begin, n; at < end; at += n) {
		n = x86_insn_bytes(on->code + at, end - at, &calls);
		if (!n)
			return false;
		if (calls && !note_call(on))
			return false;
		is = x86_effect(on->code + at, n);
		if (is.leaves)
			return note_end(on, &is, on->code + at, n);
		if (!read_one(on, &is, at + n) && !switched_is_skip(on->code, at, end))
			return false;
	}
	return false;
}

/* The caller's frame pointer is the other stack's, too: there by now, or in its place. A
 * return address above which the stack pointer has gone is in a register. */
static struct unwind_rule rule_for(const struct other_stack *on,
				   const struct point *point)
{
	bool is_behind = point->sp == on->cfa;
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP,
		.cfa_offset = on->cfa - point->sp,
		.ra = is_behind ? UNWIND_RA_REG : UNWIND_RA_CFA,
		.ra_words = (short)(is_behind ? x86_dwarf_number(on->ra_reg)
					      : (on->ra - on->cfa) / PLACE_BYTES),
		.bx_words = UNWIND_BX_LOST, /* not followed */
		.fp = UNWIND_FP_LOST,
	};

	if (point->has_fp) {
		rule.fp = UNWIND_FP_SAME;
	} else if (on->fp != NO_PLACE && on->fp < on->cfa) {
		rule.fp = UNWIND_FP_CFA;
		rule.fp_words = (short)((on->fp - on->cfa) / PLACE_BYTES);
	}
	return rule;
}

bool switched_find(const uint8_t *code, size_t begin, size_t end, struct switched *ret)
{
	struct other_stack on = {
		.code = code, .now.at = begin, .fp = NO_PLACE, .called_at = NO_PLACE
	};

	for (int reg = 0; reg < N_REGS; reg++)
		on.holds[reg] = NO_PLACE;
	*ret = (struct switched){ 0 };
	if (!note_point(&on) || !read_all(&on, begin, end))
		return false;
	for (; ret->n < on.n_points; ret->n++) {
		ret->rows[ret->n].at = on.points[ret->n].at;
		ret->rows[ret->n].rule = rule_for(&on, &on.points[ret->n]);
	}
	return true;
}
