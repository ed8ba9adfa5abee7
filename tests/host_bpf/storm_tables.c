// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread walked anew by what was asked of the tables' builder, without a page of
 * theirs: one plain step after the other, as include/shared/unwind.h has it.
 */
#include "plain.h"
#include "storm.h"

#include "code.h"

#include <string.h>

#define BX 3 /* DWARF's number of rbx */

/* Without the mark of Swift's extended frames. */
static bool fp_at(uint64_t addr, uint64_t *ret)
{
	bool there = plain_word_at(addr, ret);

	*ret &= ~(1ULL << 60);
	return there;
}

static bool restores(const struct plain *p)
{
	static const int before[] = { 0, 7, 9 };
	uint64_t first, last, at;

	for (int i = 0; i < (p->is_leaf ? 3 : 1); i++) {
		at = p->pc - before[i];
		if (memory_get(at, &first) && first == 0x0f0000000fc0c748 &&
		    memory_get(at + 1, &last) && last >> 56 == 0x05)
			return true;
	}
	return false;
}

/* How it leads on where there is no rule: is it told that nothing was called there? */
static enum step_kind look_without_rule(const struct plain *p,
					const struct unwind_mapping *mapping)
{
	uint64_t first, last;

	if (restores(p))
		return STEP_KIND_SIGNAL;
	if (!mapping->table || p->is_leaf || p->kind != FRAME_CALLER || p->led)
		return STEP_KIND_FP;
	if (!memory_get(p->pc - 8, &first) || !memory_get(p->pc + 1, &last))
		return mapping->flags & UNWIND_CALLS ? STEP_KIND_HIDDEN : STEP_KIND_FP;
	return code_is_call(first) ? STEP_KIND_FP : STEP_KIND_BOTTOM;
}

/* As a compiler's functions begin. */
static bool begins_function(uint64_t addr)
{
	const struct unwind_rule *rule = table_rule_at(addr),
				 *before = table_rule_at(addr - 1);

	return rule && rule != before && rule->cfa == UNWIND_CFA_SP &&
	       rule->reg == UNWIND_FIRST;
}

/* To another stack, by a frame pointer alone? */
static bool ends_far_away(const struct plain *p, uint64_t end)
{
	return end < p->sp - CHECKPOINT_BYTES || end >= p->sp + CHECKPOINT_BYTES;
}

/* The same of a caller that has a rule. Storms make no code of functions that call. */
static enum step_kind doubt(const struct plain *p)
{
	const struct unwind_mapping *mapping = mapping_table_find(p->pc - 1);
	bool lost = p->step_kind == STEP_KIND_FP || p->step_kind == STEP_KIND_OLDER_FP;
	bool far = lost || p->step_kind == STEP_KIND_TABLE;
	uint64_t code;

	if (p->strays && p->kind == FRAME_CALLER && !memory_get(p->pc - 8, &code) &&
	    (p->step_kind == STEP_KIND_TABLE || p->step_kind == STEP_KIND_PROVEN_FP))
		return STEP_KIND_HIDDEN;
	if (p->step_kind == STEP_KIND_PROVEN_FP)
		far = p->fp - p->sp >= SAME_STACK_BYTES && mapping->table;
	if (!far || p->kind != FRAME_CALLER || !(mapping->flags & UNWIND_CALLS))
		return p->step_kind;
	if (!table_rule_at(p->pc - 1) || table_rule_at(p->pc - 1)->cfa == UNWIND_CFA_NONE)
		return p->step_kind;
	if (memory_get(p->pc - 8, &code) && !code_is_call(code))
		return restores(p) ? p->step_kind : STEP_KIND_BOTTOM;
	if (!lost && begins_function(p->pc) && !memory_get(p->pc - 8, &code))
		return STEP_KIND_HIDDEN;
	return p->step_kind;
}

/* Where DWARF's register lies in struct ucontext: <asm/sigcontext.h>. */
static bool register_of(const struct plain *p, unsigned int reg, uint64_t *ret)
{
	static const int place[] = {
		13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7
	};

	bool has_all = p->is_leaf || (reg & UNWIND_KEPT && p->from_leaf) ||
		       p->left_alone & 1u << (reg & ~UNWIND_KEPT & 31);

	reg &= ~UNWIND_KEPT;
	if (!has_all && reg == BX && p->bx_is_known) {
		*ret = p->bx;
		return true;
	}
	if (!has_all || reg > 15)
		return false;
	if (p->signal)
		return plain_word_at(p->signal + 40 + 8 * place[reg], ret);
	*ret = p->at->regs[reg] & knobs.addr_mask;
	return true;
}

/* A new thread, whose register 0 says so. */
static bool is_newborn(const struct plain *p)
{
	uint64_t ax;

	return p->rule->cfa == UNWIND_CFA_CLONE && p->is_leaf &&
	       register_of(p, p->rule->reg, &ax) && !ax;
}

static bool find_cfa(struct plain *p)
{
	const struct unwind_rule *rule = p->rule;

	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		p->cfa = p->sp;
		break;
	case UNWIND_CFA_FP:
		p->cfa = p->fp;
		break;
	case UNWIND_CFA_DEREF_SP:
	case UNWIND_CFA_DEREF_FP:
		p->cfa = rule->cfa == UNWIND_CFA_DEREF_SP ? p->sp : p->fp;
		if (!plain_word_at(p->cfa + rule->deref_offset, &p->cfa))
			return false;
		break;
	case UNWIND_CFA_SIZED:
		if (!plain_word_at(p->sp + rule->deref_offset, &p->cfa))
			return false;
		p->cfa += p->sp;
		break;
	case UNWIND_CFA_CLONE:
		if (!p->is_leaf || !register_of(p, rule->reg, &p->cfa))
			return false;
		p->cfa = p->sp;
		break;
	case UNWIND_CFA_DEREF_TWICE:
		if (!plain_word_at(p->sp + rule->deref_offset, &p->cfa) ||
		    !plain_word_at(p->cfa, &p->cfa))
			return false;
		break;
	case UNWIND_CFA_REG:
		if (!register_of(p, rule->reg, &p->cfa))
			return false;
		break;
	case UNWIND_CFA_INDEXED:
		if (!register_of(p, rule->reg, &p->cfa) ||
		    !plain_word_at(p->sp + 8 * p->cfa + rule->deref_offset, &p->cfa))
			return false;
		break;
	case UNWIND_CFA_PLT:
		p->cfa = p->sp + (p->pc % 16 >= rule->reg ? 8 : 0);
		break;
	default:
		return false;
	}
	p->cfa += rule->cfa_offset;
	return true;
}

/* arm64, behind a frame record: sp is wherever the rule puts it that says where
 * this frame's record lies. */
static enum step_kind look_without_sp(struct plain *p)
{
	const struct unwind_rule *rule = p->rule;

	if (p->sp_is_known ||
	    (rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_DEREF_SP &&
	     rule->cfa != UNWIND_CFA_DEREF_TWICE && rule->cfa != UNWIND_CFA_SIZED))
		return find_cfa(p) ? STEP_KIND_TABLE
		       : rule->cfa == UNWIND_CFA_REG && rule->fp == UNWIND_FP_SAME
			       ? STEP_KIND_OLDER_FP
			       : STEP_KIND_FP;
	if (rule->fp != UNWIND_FP_CFA)
		return STEP_KIND_OLDER_FP;
	p->cfa = p->fp - (uint64_t)(8 * (int64_t)rule->fp_words);
	return STEP_KIND_TABLE;
}

static enum step_kind look(struct plain *p)
{
	uint64_t at = p->pc - (!p->is_leaf || p->in_syscall);
	const struct unwind_mapping *mapping = mapping_table_find(at);

	if (!mapping)
		return p->is_leaf ? STEP_KIND_PENDING : STEP_KIND_UNMAPPED;
	p->rule = mapping->table ? table_rule_at(at) : NULL;
	if (mapping->flags & UNWIND_KEEPS_FP && !p->is_leaf)
		return p->rule && p->rule->cfa == UNWIND_CFA_END &&
				       p->fp - p->sp >= SAME_STACK_BYTES
			       ? STEP_KIND_END
			       : STEP_KIND_PROVEN_FP;
	if (!mapping->table && !(mapping->flags & UNWIND_BY_FP))
		return STEP_KIND_PENDING;
	if (!p->rule || p->rule->cfa == UNWIND_CFA_NONE)
		return look_without_rule(p, mapping);
	if (p->rule->cfa == UNWIND_CFA_SIGNAL)
		return STEP_KIND_SIGNAL;
	if (p->rule->cfa == UNWIND_CFA_END || p->rule->cfa == UNWIND_CFA_TORN ||
	    is_newborn(p))
		return STEP_KIND_END;
	if (p->rule->cfa == UNWIND_CFA_GO || p->rule->cfa == UNWIND_CFA_GO_C)
		return plain_look_at_goroutine(p);
	return look_without_sp(p);
}

/* A frame pointer or a return address of 0. */
static enum ending end_by_zero(const struct plain *p)
{
	return p->step_kind == STEP_KIND_PROVEN_FP && !p->is_unproven ? END_START
								      : END_FP_ZERO;
}

static enum ending step_by_fp(struct plain *p)
{
	uint64_t fp, ra;

	if (!p->fp && p->is_leaf)
		return END_BROKEN;
	if (!p->fp)
		return end_by_zero(p);
	if (!is_place(p->fp))
		return END_BROKEN;
	if (!fp_at(p->fp, &fp) || !plain_word_at(p->fp + 8, &ra))
		return END_UNREADABLE;
	if (!ra || ra > FRAME_ADDR_MASK)
		return ra ? END_BROKEN : end_by_zero(p);
	if (p->step_kind == STEP_KIND_FP &&
	    (p->fp < p->sp - SAME_STACK_BYTES || p->fp >= p->sp + SAME_STACK_BYTES) &&
	    !code_is_called(ra))
		return END_BROKEN;
	p->bx_is_known = false;
	p->kind = p->step_kind == STEP_KIND_FP ? FRAME_UNPROVEN : FRAME_CALLER;
	p->strays = ends_far_away(p, p->fp);
	p->sp = p->fp + 16;
	p->sp_is_known = fp_gives_sp;
	p->fp = fp;
	p->pc = ra;
	return STEP_OK;
}

static enum ending step_by_signal(struct plain *p)
{
	uint64_t fp, sp, pc;

	if (!is_place(p->sp + 176))
		return END_BROKEN;
	if (!fp_at(p->sp + 120, &fp) || !plain_word_at(p->sp + 160, &sp) ||
	    !plain_word_at(p->sp + 168, &pc))
		return END_UNREADABLE;
	if (pc > FRAME_ADDR_MASK)
		return END_BROKEN;
	p->signal = p->sp;
	p->bx_is_known = plain_word_at(p->sp + 128, &p->bx);
	p->kind = FRAME_USER;
	p->sp_is_known = true;
	p->fp = fp;
	p->sp = sp;
	p->pc = pc;
	return STEP_OK;
}

static enum ending step_by_table(struct plain *p)
{
	uint64_t fp = p->fp, ra;
	bool is_guess;

	if (!is_place(p->cfa))
		return END_BROKEN;
	if (p->rule->fp == UNWIND_FP_LOST)
		fp = 1;
	else if (p->rule->fp != UNWIND_FP_SAME &&
		 !fp_at((p->rule->fp == UNWIND_FP_CFA  ? p->cfa
			 : p->rule->fp == UNWIND_FP_SP ? p->sp
						       : p->fp) +
				8 * (int64_t)p->rule->fp_words,
			&fp))
		return END_UNREADABLE;
	if (p->rule->ra == UNWIND_RA_REG)
		ra = p->go_pc;
	else if (!plain_word_at(p->cfa - 8, &ra))
		return END_UNREADABLE;
	if (!ra || ra > FRAME_ADDR_MASK)
		return ra ? END_BROKEN : p->is_unproven ? END_FP_ZERO : END_START;
	if (p->rule->bx_words)
		p->bx_is_known =
			p->rule->bx_words != UNWIND_BX_LOST &&
			plain_word_at(p->cfa + 8 * (int64_t)p->rule->bx_words, &p->bx);
	is_guess = !p->sp_is_known ||
		   (p->rule->cfa == UNWIND_CFA_SP && p->rule->reg == UNWIND_GUESSED);
	p->kind = is_guess ? FRAME_UNPROVEN : FRAME_CALLER;
	if (!fp_gives_sp && p->rule->ra == UNWIND_RA_REG &&
	    p->rule->cfa == UNWIND_CFA_GO) /* with all its registers */
		p->kind = FRAME_USER;
	p->sp_is_known = true;
	p->strays = p->rule->cfa == UNWIND_CFA_FP && p->rule->reg != UNWIND_LEADS &&
		    p->rule->cfa_offset == 16 && ends_far_away(p, p->cfa);
	p->fp = fp;
	p->sp = p->cfa;
	p->pc = ra;
	return STEP_OK;
}

static bool keeps_other_stack(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_DEREF_SP || rule->cfa == UNWIND_CFA_DEREF_FP ||
	       rule->cfa == UNWIND_CFA_DEREF_TWICE;
}

/* Is it a made stack's first function, by its rule? */
static bool is_resumed(const struct plain *p)
{
	return p->step_kind == STEP_KIND_TABLE && p->rule->reg == UNWIND_LEADS &&
	       (p->rule->cfa == UNWIND_CFA_SP || p->rule->cfa == UNWIND_CFA_FP ||
		keeps_other_stack(p->rule));
}

/* Does its rule keep another stack's pointer? */
static bool leads(const struct plain *p)
{
	if (p->step_kind != STEP_KIND_TABLE)
		return false;
	return is_resumed(p) ||
	       (keeps_other_stack(p->rule) && p->rule->fp != UNWIND_FP_DEREF &&
		p->rule->reg != UNWIND_BY_CODE);
}

/* To the next frame, and how that one leads on; or an ending. */
static enum ending step(struct plain *p)
{
	bool was_leaf = p->is_leaf, was_resumed;
	enum ending ending;

	switch (p->step_kind) {
	case STEP_KIND_END:
		return p->rule->cfa == UNWIND_CFA_TORN ? END_TORN : END_START;
	case STEP_KIND_PENDING:
		return END_AWAITED;
	case STEP_KIND_BOTTOM:
		return END_FIBER;
	case STEP_KIND_HIDDEN:
		return END_UNREADABLE;
	case STEP_KIND_SIGNAL:
		ending = step_by_signal(p);
		break;
	case STEP_KIND_TABLE:
		ending = step_by_table(p);
		break;
	default:
		ending = step_by_fp(p);
	}
	if (ending != STEP_OK)
		return ending;
	p->from_leaf = was_leaf && p->step_kind == STEP_KIND_TABLE;
	p->left_alone = was_leaf ? UNWIND_ALONE : p->left_alone;
	p->left_alone &= p->step_kind == STEP_KIND_TABLE && p->rule->cfa <= UNWIND_CFA_FP
				 ? (unsigned short)p->rule->deref_offset
				 : 0;
	p->led = leads(p);
	was_resumed = is_resumed(p);
	p->is_leaf = p->step_kind == STEP_KIND_SIGNAL || p->kind == FRAME_USER;
	p->in_syscall = false;
	p->step_kind = look(p);
	if (p->step_kind == STEP_KIND_UNMAPPED)
		return END_BROKEN;
	if (p->step_kind == STEP_KIND_SIGNAL)
		p->kind = FRAME_USER;
	else if (p->kind == FRAME_CALLER && (p->led || leads(p)))
		p->kind = was_resumed ? FRAME_RESUMER : FRAME_LAUNCH;
	p->step_kind = doubt(p);
	if (p->step_kind == STEP_KIND_BOTTOM || p->step_kind == STEP_KIND_HIDDEN)
		p->kind = FRAME_BOTTOM;
	/* what seems to be a handler's return is one: nothing else leads there */
	p->is_unproven |= p->kind == FRAME_UNPROVEN;
	return STEP_OK;
}

/* Where the frame's memory ends. */
static uint64_t end_of(const struct plain *p)
{
	if (p->step_kind == STEP_KIND_TABLE)
		return p->cfa;
	return p->step_kind == STEP_KIND_SIGNAL ? p->sp + 176 : p->fp + 16;
}

/* No two frames end at one place, unless they come again. */
static bool came_again(const uint64_t *ends, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (ends[i] == ends[n - 1])
			return true;
	}
	return false;
}

const char *storm_table_lie(const struct sampled *at, const struct sample_rec *rec)
{
	struct plain p = { .at = at,
			   .pc = at->pc & knobs.addr_mask & FRAME_ADDR_MASK,
			   .sp = at->sp & knobs.addr_mask,
			   .fp = at->fp & knobs.addr_mask & ~(1ULL << 60),
			   .bx = at->regs[BX] & knobs.addr_mask,
			   .bx_is_known = true,
			   .is_leaf = true,
			   .in_syscall = at->in_syscall,
			   .sp_is_known = true };
	uint64_t ends[FRAMES_MAX + 2];
	enum ending ending;
	size_t n = 0;

	p.step_kind = look(&p);
	ends[n++] = end_of(&p);
	for (uint32_t i = 1; i < rec->n_thread; i++) {
		uint64_t word = rec->words[rec->n_kernel + i];

		if (FRAME_KIND(word) == FRAME_ROOT)
			continue;
		if (FRAME_KIND(word) == FRAME_GAP)
			return NULL;
		if (step(&p) != STEP_OK)
			return "a caller that is none";
		if (FRAME_ADDR(word) != p.pc)
			return "a caller that is another";
		if (FRAME_KIND(word) != p.kind)
			return "a caller of another kind";
		ends[n++] = end_of(&p);
	}
	if (rec->ending == END_CYCLE)
		return came_again(ends, n) ? NULL : "a circle that is none";
	if (rec->ending == END_BUDGET) /* a gap is paid for, too */
		return n + (p.step_kind == STEP_KIND_OLDER_FP) > knobs.max_frames
			       ? NULL
			       : "a budget that is not spent";
	ending = step(&p);
	return ending == rec->ending ? NULL : "an ending that is another";
}
