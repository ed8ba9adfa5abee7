// SPDX-License-Identifier: BSD-2-Clause
#include "plain.h"

bool plain_word_at(uint64_t addr, uint64_t *ret)
{
	bool there = memory_get(addr, ret);

	*ret &= knobs.addr_mask;
	return there;
}

/* The stack that Go's runtime keeps of a goroutine; false: there is none. */
static bool find_goroutine(struct plain *p)
{
	const struct unwind_rule *rule = p->rule;
	uint64_t g = p->at->g, m, goroutine, its_m,
		 at = (uint64_t)(int64_t)rule->deref_offset;

	if (fp_gives_sp &&
	    !memory_get(p->at->tp + (uint64_t)(int64_t)rule->cfa_offset, &g))
		return false;
	if (!memory_get((g & knobs.addr_mask) + at, &m) ||
	    !plain_word_at((m & knobs.addr_mask) + 8 * rule->reg, &goroutine) ||
	    !memory_get(goroutine + at, &its_m) || its_m != m ||
	    !memory_get(goroutine + at + 56, &its_m) ||
	    !plain_word_at(goroutine + at + 8, &p->cfa))
		return false;
	if (rule->ra == UNWIND_RA_REG)
		return plain_word_at(goroutine + at + 16, &p->go_pc);
	p->cfa -= 8 * (uint64_t)(int64_t)rule->ra_words;
	return true;
}

static bool find_beside_c(struct plain *p)
{
	uint64_t at = p->sp + (uint64_t)(int64_t)p->rule->deref_offset, g, was, end = 0;

	if (!p->sp_is_known || !memory_get(at, &g) || !memory_get(at + 8, &was) ||
	    (g && !memory_get((g & knobs.addr_mask) + 8, &end)))
		return false;
	p->cfa = ((g ? end - was : was) & knobs.addr_mask) -
		 8 * (uint64_t)(int64_t)p->rule->ra_words;
	return true;
}

enum step_kind plain_look_at_goroutine(struct plain *p)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN };

	if (p->rule->cfa == UNWIND_CFA_GO ? find_goroutine(p) : find_beside_c(p))
		return STEP_KIND_TABLE;
	p->rule = &torn;
	return STEP_KIND_END;
}
