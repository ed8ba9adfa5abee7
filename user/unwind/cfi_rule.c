// SPDX-License-Identifier: BSD-2-Clause
/*
 * From DWARF's state of a row to the rule of a table. A rule is written one way
 * only, with zero in what it does not use, so that equal rules are equal bytes.
 */
#include "unwind/cfi_parts.h"

#include <limits.h>

static const struct cfi_machine x86_64 = {
	.fp = 6,
	.sp = 7,
	.ra = 16,
	.ip = 16,
	.bx = 3,
	.ra_below_cfa = true,
	/* mov $15, %rax; syscall */
	.sigreturn = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
	.sigreturn_bytes = 9,
};

static const struct cfi_machine arm64 = {
	.fp = 29,
	.sp = 31,
	.ra = 30,
	.ip = UINT8_MAX,
	.bx = UINT8_MAX,
	.ra_in_register = true,
	/* mov x8, #139; svc #0 */
	.sigreturn = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 },
	.sigreturn_bytes = 8,
};

const struct cfi_machine *cfi_machine(uint16_t e_machine)
{
	return e_machine == EM_X86_64 ? &x86_64 : e_machine == EM_AARCH64 ? &arm64 : NULL;
}

struct making {
	const struct cfi_machine *machine;
	const struct cfi_state *state;
	struct cfi_term cfa; /* where the caller's sp is */
	int64_t declared;    /* bytes from there: what call frame information calls so */
	struct unwind_rule rule;
	enum cfi_unsupported unsupported;
	struct cfi_expr expr;
};

static bool set_unsupported(struct making *making, enum cfi_unsupported unsupported,
			    const struct cfi_expr *expr)
{
	making->unsupported = unsupported;
	making->expr = expr ? *expr : (struct cfi_expr){ 0 };
	return false;
}

static bool find_cfa(struct making *making)
{
	const struct cfi_state *state = making->state;

	if (!state->by_expr) {
		making->cfa = (struct cfi_term){ .kind = CFI_TERM_REG,
						 .reg = state->cfa_reg,
						 .offset = state->cfa_offset };
		return state->cfa_reg <= UINT8_MAX ||
		       set_unsupported(making, CFI_CFA_RANGE, NULL);
	}
	making->cfa = cfi_expr_eval(making->machine, &state->cfa_expr, false);
	return making->cfa.kind != CFI_TERM_NONE ||
	       set_unsupported(making, CFI_CFA_EXPR, &state->cfa_expr);
}

static bool take_cfa(struct making *making)
{
	const struct cfi_term *cfa = &making->cfa;
	struct unwind_rule *rule = &making->rule;
	bool by_sp = cfa->reg == making->machine->sp;
	bool by_fp = cfa->reg == making->machine->fp;

	if (cfa->offset != (int)cfa->offset || cfa->deref != (short)cfa->deref)
		return set_unsupported(making, CFI_CFA_RANGE, NULL);
	rule->cfa_offset = (int)cfa->offset;
	if (cfa->kind == CFI_TERM_REG) {
		rule->cfa = by_sp   ? UNWIND_CFA_SP
			    : by_fp ? UNWIND_CFA_FP
				    : UNWIND_CFA_REG;
		if (rule->cfa == UNWIND_CFA_REG)
			rule->reg = (unsigned char)cfa->reg;
	} else if (cfa->kind == CFI_TERM_DEREF && (by_sp || by_fp)) {
		rule->cfa = by_sp ? UNWIND_CFA_DEREF_SP : UNWIND_CFA_DEREF_FP;
		rule->deref_offset = (short)cfa->deref;
	} else if (cfa->kind == CFI_TERM_DEREF_TWICE && by_sp) {
		rule->cfa = UNWIND_CFA_DEREF_TWICE;
		rule->deref_offset = (short)cfa->deref;
	} else if (cfa->kind == CFI_TERM_INDEXED && cfa->reg <= UINT8_MAX) {
		rule->cfa = UNWIND_CFA_INDEXED;
		rule->deref_offset = (short)cfa->deref;
		rule->reg = (unsigned char)cfa->reg;
	} else if (cfa->kind == CFI_TERM_PLT) {
		rule->cfa = UNWIND_CFA_PLT;
		rule->reg = (unsigned char)cfa->reg;
	} else {
		return set_unsupported(making, CFI_CFA_EXPR, &making->state->cfa_expr);
	}
	return true;
}

/* Where the memory is that a place names: as CFA + *ret, if it can be said so. */
static bool from_cfa(const struct making *making, const struct cfi_term *at, int64_t *ret)
{
	const struct cfi_term *cfa = &making->cfa;

	if (at->kind == CFI_TERM_CFA) {
		*ret = (int64_t)((uint64_t)at->offset + (uint64_t)making->declared);
		return true;
	}
	*ret = (int64_t)((uint64_t)at->offset - (uint64_t)cfa->offset);
	return at->kind == CFI_TERM_REG && cfa->kind == CFI_TERM_REG &&
	       at->reg == cfa->reg;
}

static struct cfi_term address_of(const struct making *making,
				  const struct cfi_place *place)
{
	if (place->how == CFI_AT || place->how == CFI_IS)
		return (struct cfi_term){ .kind = CFI_TERM_CFA, .offset = place->n };
	if (place->how == CFI_AT_EXPR || place->how == CFI_IS_EXPR)
		return cfi_expr_eval(making->machine, &place->expr, true);
	return (struct cfi_term){ .kind = CFI_TERM_NONE };
}

#define GHC_ROOM 16384 /* below its registers: RESERVED_C_STACK_BYTES (rts/StgCRun.c) */

/*
 * The caller's sp is the CFA, unless it is said to be elsewhere, as GHC's StgRun() says:
 * then that is the rule's. What StgRun() enters keeps its callers on a stack of its own,
 * which rbp points at, and leaves sp where it is for them: nobody called there, and no
 * call frame tells where those end.
 */
static bool find_sp(struct making *making)
{
	const struct cfi_place *sp = &making->state->sp;
	struct cfi_term is = address_of(making, sp), *cfa = &making->cfa;
	int64_t offset;

	if (sp->how == CFI_UNSAID || (sp->how == CFI_SAME && cfa->kind == CFI_TERM_REG &&
				      cfa->reg == making->machine->sp && !cfa->offset))
		return true;
	if ((sp->how != CFI_IS && sp->how != CFI_IS_EXPR) ||
	    !from_cfa(making, &is, &offset))
		return set_unsupported(making, CFI_SP_PLACE, &sp->expr);
	if (!offset)
		return true;
	if (cfa->kind != CFI_TERM_REG || cfa->reg != making->machine->sp)
		return set_unsupported(making, CFI_SP_PLACE, &sp->expr);
	cfa->offset = (int64_t)((uint64_t)cfa->offset + (uint64_t)offset);
	making->declared = (int64_t)(0 - (uint64_t)offset);
	if (making->machine->ra_below_cfa && offset >= GHC_ROOM)
		making->rule.reg = UNWIND_ENTERS;
	return true;
}

/* Of an offset in bytes; false: a rule has no room for it. */
static bool to_words(int64_t offset, short *ret)
{
	int64_t words = offset / 8;

	if (offset % 8 || words != (short)words)
		return false;
	*ret = (short)words;
	return true;
}

static bool in_memory(const struct cfi_place *place)
{
	return place->how == CFI_AT || place->how == CFI_AT_EXPR;
}

/* Is the CFA found by a register that points into another context's memory? */
static bool is_of_another_context(const struct making *making)
{
	const struct cfi_term *cfa = &making->cfa;

	return making->machine->ra_below_cfa && cfa->kind == CFI_TERM_REG &&
	       cfa->reg != making->machine->sp && cfa->reg != making->machine->fp;
}

/* So vfork keeps it from the child, which runs on the same stack. */
static bool is_in_register(const struct making *making, const struct cfi_place *ra)
{
	return ra->how == CFI_TAKEN && ra->n >= 0 && ra->n < making->machine->ra &&
	       making->cfa.kind == CFI_TERM_REG && making->cfa.reg == making->machine->sp;
}

/* Mostly a call put it below the CFA; a stack that was made by hand may have it
 * elsewhere. */
static bool take_ra(struct making *making)
{
	const struct cfi_place *ra = &making->state->ra;
	struct cfi_term at = address_of(making, ra);
	int64_t offset;

	if ((ra->how == CFI_UNSAID || ra->how == CFI_SAME) &&
	    making->machine->ra_in_register) {
		making->rule.ra = UNWIND_RA_LR;
		return true;
	}
	if (is_in_register(making, ra)) {
		making->rule.ra = UNWIND_RA_REG;
		making->rule.ra_words = (short)ra->n;
		return true;
	}
	if (!in_memory(ra) || !from_cfa(making, &at, &offset) ||
	    !to_words(offset, &making->rule.ra_words) ||
	    (offset != -8 && is_of_another_context(making)))
		return set_unsupported(making, CFI_RA_PLACE, &ra->expr);
	return true;
}

static void take_fp(struct making *making)
{
	const struct cfi_place *fp = &making->state->fp;
	struct cfi_term at = address_of(making, fp);
	struct unwind_rule *rule = &making->rule;
	int64_t offset;

	if (fp->how == CFI_UNSAID || fp->how == CFI_SAME)
		return;
	rule->fp = UNWIND_FP_LOST;
	if (in_memory(fp) && from_cfa(making, &at, &offset) &&
	    to_words(offset, &rule->fp_words)) {
		rule->fp = UNWIND_FP_CFA;
	} else if (in_memory(fp) && at.kind == CFI_TERM_REG &&
		   at.reg == making->machine->fp &&
		   to_words(at.offset, &rule->fp_words)) {
		rule->fp = UNWIND_FP_DEREF;
	} else if (fp->how != CFI_UNDEFINED) {
		set_unsupported(making, CFI_FP_PLACE, &fp->expr);
	}
}

static void take_bx(struct making *making)
{
	const struct cfi_place *bx = &making->state->bx;
	struct cfi_term at = address_of(making, bx);
	struct unwind_rule *rule = &making->rule;
	int64_t offset;

	if (bx->how == CFI_UNSAID || bx->how == CFI_SAME)
		return;
	if (!in_memory(bx) || !from_cfa(making, &at, &offset) ||
	    !to_words(offset, &rule->bx_words) || !rule->bx_words)
		rule->bx_words = UNWIND_BX_LOST;
}

/* Registers and return address are those of another stack, which a register points
 * at: glibc's setcontext and longjmp behind what they load. */
static bool is_switching(const struct making *making)
{
	return making->unsupported == CFI_RA_PLACE && is_of_another_context(making);
}

struct unwind_rule cfi_rule(const struct cfi_machine *machine, const struct cfi_cie *cie,
			    const struct cfi_state *state,
			    enum cfi_unsupported *ret_unsupported,
			    struct cfi_expr *ret_expr)
{
	struct making making = { .machine = machine,
				 .state = state,
				 .unsupported = N_CFI_UNSUPPORTED };
	bool known;

	*ret_unsupported = N_CFI_UNSUPPORTED;
	if (cie->ra == machine->ra && state->ra.how == CFI_UNDEFINED)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_END };
	known = find_cfa(&making);
	if (known && cie->ra != machine->ra)
		known = set_unsupported(&making, CFI_RA_PLACE, NULL);
	if (known && find_sp(&making) && take_cfa(&making) && take_ra(&making)) {
		take_fp(&making);
		take_bx(&making);
	} else {
		making.rule =
			(struct unwind_rule){ .cfa = is_switching(&making)
							     ? UNWIND_CFA_TORN
							     : UNWIND_CFA_UNSUPPORTED };
	}
	*ret_unsupported = making.unsupported;
	*ret_expr = making.expr;
	return making.rule;
}
