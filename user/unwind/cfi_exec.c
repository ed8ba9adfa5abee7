// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs the instructions of an entry and gives a row for each stretch of code
 * that they tell apart. What can't be read leaves the rest of its function
 * UNSUPPORTED: what was said before that still holds.
 */
#include "unwind/cfi_parts.h"

#include "base/error.h"
#include "unwind/cfi_insn.h"

#include <errno.h>

static struct cfi_place *place_of(struct cfi_exec *exec, struct cfi_state *state,
				  uint64_t reg)
{
	return reg == exec->machine->fp	  ? &state->fp
	       : reg == exec->machine->ra ? &state->ra
	       : reg == exec->machine->sp ? &state->sp
	       : reg == exec->machine->bx ? &state->bx
					  : NULL;
}

static void set_place(struct cfi_exec *exec, uint64_t reg, struct cfi_place to)
{
	struct cfi_place *place = place_of(exec, &exec->state, reg);

	if (place)
		*place = to;
}

static void restore_place(struct cfi_exec *exec, uint64_t reg)
{
	const struct cfi_place *was = place_of(exec, &exec->initial, reg);

	if (was)
		set_place(exec, reg, *was);
}

static void set_offset(struct cfi_exec *exec, uint64_t reg, enum cfi_how how,
		       uint64_t factored)
{
	set_place(exec, reg,
		  (struct cfi_place){
			  .how = how,
			  .n = (int64_t)(factored * (uint64_t)exec->cie->data_align) });
}

static struct cfi_expr take_expr(struct cfi_cursor *in)
{
	struct cfi_expr expr = { 0 };
	uint64_t n = cfi_uleb(in);

	expr.bytes = in->at;
	cfi_skip(in, n);
	expr.n = in->bad ? 0 : n;
	return expr;
}

static void set_expr(struct cfi_exec *exec, enum cfi_how how, struct cfi_cursor *in)
{
	uint64_t reg = cfi_uleb(in);

	set_place(exec, reg, (struct cfi_place){ .how = how, .expr = take_expr(in) });
}

/* [exec->pc, until), as far as the caller wants it. */
static int give_row(struct cfi_exec *exec, uint64_t until, const struct unwind_rule *rule)
{
	uint64_t begin = exec->pc > exec->from ? exec->pc : exec->from;
	uint64_t end = until < exec->end ? until : exec->end;

	return begin < end ? exec->sink->row(exec->sink->arg, begin, rule) : 0;
}

/* Does it keep another stack's pointer? gcc's realigned frames keep their own. */
static bool leads_away(const struct unwind_rule *rule)
{
	return rule->cfa >= UNWIND_CFA_DEREF_SP && rule->cfa <= UNWIND_CFA_DEREF_TWICE &&
	       rule->fp != UNWIND_FP_DEREF;
}

/* As a call leaves the stack. A part of a function (.cold) begins deeper. */
static bool is_first(const struct cfi_exec *exec, const struct unwind_rule *rule)
{
	return exec->pc == exec->begin && exec->from <= exec->begin &&
	       rule->cfa == UNWIND_CFA_SP && rule->fp == UNWIND_FP_SAME && !rule->reg &&
	       rule->cfa_offset == (exec->machine->ra_below_cfa ? 8 : 0);
}

static void mark_lead(struct cfi_exec *exec, struct unwind_rule *rule)
{
	if (exec->pc == exec->begin)
		exec->is_launchpad = leads_away(rule);
	if (exec->cie->is_signal && rule->cfa >= UNWIND_CFA_SP &&
	    rule->cfa <= UNWIND_CFA_DEREF_TWICE)
		rule->reg = UNWIND_LEADS;
	if (exec->is_launchpad && leads_away(rule))
		rule->reg = UNWIND_LEADS;
}

static int row_until(struct cfi_exec *exec, uint64_t until)
{
	struct cfi_expr expr = { 0 };
	enum cfi_unsupported unsupported;
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SIGNAL };

	if (until <= exec->pc || until <= exec->from)
		return 0;
	if (exec->is_sigreturn)
		return give_row(exec, until, &rule);
	rule = cfi_rule(exec->machine, exec->cie, &exec->state, &unsupported, &expr);
	if (unsupported < N_CFI_UNSUPPORTED) {
		exec->stats->unsupported[unsupported]++;
		if (exec->sink->unsupported)
			exec->sink->unsupported(exec->sink->arg, unsupported, expr.bytes,
						expr.n);
	}
	mark_lead(exec, &rule);
	if (is_first(exec, &rule))
		rule.reg = UNWIND_FIRST;
	return give_row(exec, until, &rule);
}

static int move_to(struct cfi_exec *exec, struct cfi_cursor *in, uint64_t pc)
{
	int err = 0;

	if (in->bad || pc < exec->pc) {
		cfi_mark_bad(in);
		return 0;
	}
	err = row_until(exec, pc);
	exec->pc = pc;
	return err;
}

static int advance(struct cfi_exec *exec, struct cfi_cursor *in, uint64_t factored)
{
	return move_to(exec, in, exec->pc + factored * exec->cie->code_align);
}

static void set_cfa(struct cfi_exec *exec, uint64_t reg, int64_t offset)
{
	exec->state.by_expr = false;
	exec->state.cfa_reg = reg;
	exec->state.cfa_offset = offset;
}

static int64_t factored_sleb(struct cfi_exec *exec, struct cfi_cursor *in)
{
	return (int64_t)((uint64_t)cfi_sleb(in) * (uint64_t)exec->cie->data_align);
}

/* True: it was one of these. */
static bool cfa_code(struct cfi_exec *exec, uint8_t op, struct cfi_cursor *in)
{
	struct cfi_state *state = &exec->state;
	uint64_t reg;

	switch (op) {
	case DEF_CFA:
		reg = cfi_uleb(in);
		set_cfa(exec, reg, (int64_t)cfi_uleb(in));
		return true;
	case DEF_CFA_SF:
		reg = cfi_uleb(in);
		set_cfa(exec, reg, factored_sleb(exec, in));
		return true;
	case DEF_CFA_REGISTER:
		set_cfa(exec, cfi_uleb(in), state->cfa_offset);
		return true;
	case DEF_CFA_OFFSET:
		state->cfa_offset = (int64_t)cfi_uleb(in);
		return true;
	case DEF_CFA_OFFSET_SF:
		state->cfa_offset = factored_sleb(exec, in);
		return true;
	case DEF_CFA_EXPRESSION:
		state->cfa_expr = take_expr(in);
		state->by_expr = true;
		return true;
	}
	return false;
}

/* Is it the return address, which a call has put below the CFA? A switch of stacks may be
 * entered otherwise. */
static bool is_from_a_call(const struct cfi_exec *exec, uint64_t reg)
{
	const struct cfi_place *ra = &exec->state.ra;

	return reg == exec->machine->ra && exec->machine->ra_below_cfa &&
	       exec->pc != exec->begin && exec->initial.ra.how == CFI_AT &&
	       ra->how == CFI_AT && ra->n == -8;
}

static bool place_code(struct cfi_exec *exec, uint8_t op, struct cfi_cursor *in)
{
	struct cfi_place place = { 0 };
	uint64_t reg;

	switch (op) {
	case OFFSET_EXTENDED:
	case VAL_OFFSET:
		reg = cfi_uleb(in);
		set_offset(exec, reg, op == VAL_OFFSET ? CFI_IS : CFI_AT, cfi_uleb(in));
		return true;
	case OFFSET_EXTENDED_SF:
	case VAL_OFFSET_SF:
		reg = cfi_uleb(in);
		set_offset(exec, reg, op == VAL_OFFSET_SF ? CFI_IS : CFI_AT,
			   (uint64_t)cfi_sleb(in));
		return true;
	case GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = cfi_uleb(in);
		set_offset(exec, reg, CFI_AT, -cfi_uleb(in));
		return true;
	case RESTORE_EXTENDED:
		restore_place(exec, cfi_uleb(in));
		return true;
	case UNDEFINED:
	case SAME_VALUE:
		place.how = op == UNDEFINED ? CFI_UNDEFINED : CFI_SAME;
		set_place(exec, cfi_uleb(in), place);
		return true;
	case REGISTER:
		reg = cfi_uleb(in);
		place.how = is_from_a_call(exec, reg) ? CFI_TAKEN : CFI_IN;
		place.n = (int64_t)cfi_uleb(in);
		set_place(exec, reg, place);
		return true;
	case EXPRESSION:
	case VAL_EXPRESSION:
		set_expr(exec, op == EXPRESSION ? CFI_AT_EXPR : CFI_IS_EXPR, in);
		return true;
	}
	return false;
}

static void state_code(struct cfi_exec *exec, uint8_t op, struct cfi_cursor *in)
{
	if (op == REMEMBER_STATE && exec->n_saved < CFI_STATES_MAX)
		exec->saved[exec->n_saved++] = exec->state;
	else if (op == RESTORE_STATE && exec->n_saved)
		exec->state = exec->saved[--exec->n_saved];
	else
		cfi_mark_bad(in);
}

static int extended_code(struct cfi_exec *exec, uint8_t op, struct cfi_cursor *in)
{
	switch (op) {
	case NOP:
	case NEGATE_RA_STATE:
		return 0;
	case NEGATE_RA_STATE_WITH_PC:
		if (!exec->machine->ra_in_register)
			cfi_mark_bad(in);
		return 0;
	case SET_LOC:
		return move_to(exec, in,
			       cfi_pointer(exec->section, in, exec->cie->pointers));
	case ADVANCE1:
	case ADVANCE2:
	case ADVANCE4:
		return advance(exec, in, cfi_fixed(in, (size_t)1 << (op - ADVANCE1)));
	case REMEMBER_STATE:
	case RESTORE_STATE:
		state_code(exec, op, in);
		return 0;
	case GNU_ARGS_SIZE:
		cfi_uleb(in);
		return 0;
	}
	if (!cfa_code(exec, op, in) && !place_code(exec, op, in))
		cfi_mark_bad(in);
	return 0;
}

/* Until the code's end, or the end of what it is for. */
static int run_code(struct cfi_exec *exec, struct cfi_cursor *in)
{
	int err = 0;

	while (in->at < in->end && exec->pc < exec->end && !err) {
		uint8_t op = cfi_u8(in);
		uint8_t operand = op & 0x3f;

		if (!exec->steps_left--)
			return fail(-E2BIG,
				    "call frame information has too many instructions");
		switch (op & 0xc0) {
		case ADVANCE:
			err = advance(exec, in, operand);
			break;
		case OFFSET:
			set_offset(exec, operand, CFI_AT, cfi_uleb(in));
			break;
		case RESTORE:
			restore_place(exec, operand);
			break;
		default:
			err = extended_code(exec, op, in);
		}
	}
	return err;
}

static int give_up(struct cfi_exec *exec)
{
	const struct unwind_rule unsupported = { .cfa = UNWIND_CFA_UNSUPPORTED };

	exec->stats->unsupported[CFI_BAD_CODE]++;
	if (exec->sink->unsupported)
		exec->sink->unsupported(exec->sink->arg, CFI_BAD_CODE, NULL, 0);
	return give_row(exec, exec->end, &unsupported);
}

int cfi_exec_run(struct cfi_exec *exec, const struct cfi_cie *cie,
		 const struct cfi_fde *fde, uint64_t from)
{
	struct cfi_cursor common = cie->code, own = fde->code;
	int err;

	exec->cie = cie;
	exec->begin = exec->pc = fde->begin;
	exec->is_launchpad = false;
	exec->from = from;
	exec->end = fde->end;
	exec->n_saved = 0;
	exec->state = (struct cfi_state){ .cfa_reg = CFI_NO_REGISTER };
	exec->initial = exec->state;
	err = run_code(exec, &common);
	if (err || common.bad)
		return err ? err : give_up(exec);
	exec->initial = exec->state;
	err = run_code(exec, &own);
	if (err || own.bad)
		return err ? err : give_up(exec);
	return row_until(exec, exec->end);
}
