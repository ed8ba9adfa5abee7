// SPDX-License-Identifier: BSD-2-Clause
/* Mapping tables and unwind tables by chance, stacks of their code, and damage. */
#include "storm.h"

#include "code.h"

#include <string.h>

#define TEXT_BYTES 0x10000 /* of storm_make.c's code */
#define BX	   3	   /* DWARF's number of rbx */

/* Of Go: g from the thread pointer, the m of a g, the goroutine of an m. */
#define G_AT	     (-8)
#define KEPT_AT	     48
#define GOROUTINE_AT 184

static unsigned int below(uint64_t *chance, unsigned int n)
{
	return storm_random(chance) % n;
}

static struct unwind_rule some_rule(uint64_t *chance)
{
	struct unwind_rule rule = { .ra_words = -1 };

	switch (below(chance, 12)) {
	case 0 ... 5:
		rule.cfa = UNWIND_CFA_SP;
		rule.cfa_offset = 8 + 8 * below(chance, 24);
		rule.deref_offset = (short)(below(chance, 16) << 12 & UNWIND_ALONE);
		if (rule.cfa_offset == 8 && below(chance, 2))
			rule.reg = UNWIND_FIRST;
		break;
	case 6 ... 7:
		return RULE_FP;
	default:
		rule.cfa = below(chance, N_UNWIND_CFAS);
		rule.cfa_offset = 8 * ((int)below(chance, 16) - 3);
		rule.deref_offset = 8 * ((int)below(chance, 16) - 3);
		rule.reg = below(chance, 3) ? BX : below(chance, 20);
		if (rule.cfa == UNWIND_CFA_REG && rule.reg != BX && below(chance, 2))
			rule.reg |= UNWIND_KEPT;
		else if (rule.cfa == UNWIND_CFA_REG && rule.reg != BX)
			rule.reg = 12 + below(chance, 4);
		if (rule.cfa <= UNWIND_CFA_FP)
			rule.deref_offset &= (short)UNWIND_ALONE;
	}
	if (rule.cfa == UNWIND_CFA_GO && below(chance, 8)) {
		rule.cfa_offset = G_AT;
		rule.deref_offset = KEPT_AT;
		rule.reg = GOROUTINE_AT / 8;
		rule.ra = below(chance, 2) ? UNWIND_RA_CFA : UNWIND_RA_REG;
	}
	if (!below(chance, 4)) {
		rule.fp = below(chance, 5);
		rule.fp_words = (int)below(chance, 12) - 8;
	}
	if (!below(chance, 4))
		rule.bx_words =
			below(chance, 4) ? -2 - (int)below(chance, 8) : UNWIND_BX_LOST;
	return rule;
}

void storm_publish(uint64_t *chance, uint64_t text)
{
	uint64_t addr = text + below(chance, 0x100);
	uint32_t table, flags = (below(chance, 8) ? 0 : UNWIND_KEEPS_FP) |
				(below(chance, 2) ? 0 : UNWIND_CALLS);

	tables_clear();
	table_begin();
	while (addr < text + TEXT_BYTES) {
		table_row(addr, some_rule(chance));
		addr += 1 + below(chance, below(chance, 8) ? 0x400 : 0x3000);
	}
	table_row(addr, RULE_OF(NONE));
	table = table_end();
	addr = text + below(chance, 0x400);
	mapping_table_add(text - 0x1000, addr, 0, 0, below(chance, 2) ? UNWIND_BY_FP : 0);
	mapping_table_add(addr, text + TEXT_BYTES - 0x800, 0, table, flags);
	mapping_table_add(text + TEXT_BYTES - 0x700, text + TEXT_BYTES, 0, table, 0);
}

/* A file is foreign, and so is what is made of it. */
void storm_corrupt(uint64_t *chance)
{
	uint32_t n = tables_pages(), few = 1 + below(chance, 40);
	uint32_t page;

	for (uint32_t i = 0; i < few; i++) {
		/* the mapping table, or an unwind table's */
		page = below(chance, 3) ? 16 + below(chance, n - 16) : 3;
		for (uint32_t k = 0; k < 1 + below(chance, 8); k++) {
			uint32_t at = below(chance, below(chance, 2) ? 128 : 4096);
			uint64_t word = storm_random(chance);

			if (page == 3 && at < 8)
				continue; /* or it was given up */
			memcpy(&tables_page(page)->bytes[at & ~3u], &word,
			       below(chance, 2) ? 2 : 4);
		}
	}
}

/* Go's g, its m, and the goroutine of that, one of which may be another one's; they lie
 * at `at`, and where it goes on on the stack. */
void storm_put_goroutine(uint64_t *chance, struct sampled *of, uint64_t at, uint64_t text)
{
	uint64_t m = at + 0x100, goroutine = at + 0x200;

	of->tp = at - G_AT;
	of->g = at;
	memory_put(at, at);
	memory_put(at + KEPT_AT, below(chance, 8) ? m : at);
	memory_put(m + GOROUTINE_AT, below(chance, 8) ? goroutine : at);
	memory_put(goroutine + KEPT_AT, below(chance, 8) ? m : at);
	memory_put(goroutine + KEPT_AT + 8, of->sp + 8 * below(chance, 64));
	memory_put(goroutine + KEPT_AT + 16, text + below(chance, TEXT_BYTES));
}

/* Code that is unwound by sp, or is not told of at all; perhaps. */
static uint64_t some_code(uint64_t *chance, uint64_t text, bool is_leaf, bool told)
{
	uint64_t pc;

	for (int tries = 0; tries < 16; tries++) {
		const struct unwind_mapping *mapping;
		const struct unwind_rule *rule;

		pc = text + below(chance, TEXT_BYTES);
		mapping = mapping_table_find(pc - !is_leaf);
		rule = table_rule_at(pc - !is_leaf);
		if (!mapping || !rule || !mapping->table)
			continue;
		if (rule->cfa == (told ? UNWIND_CFA_SP : UNWIND_CFA_NONE))
			break;
	}
	return pc;
}

/* Frames that lead on by sp, each where the last one ends; some are signals'. */
void storm_fill_by_table(uint64_t *chance, struct sampled *at, uint64_t text)
{
	uint64_t sp = at->sp, pc, restorer;
	bool is_leaf = !at->in_syscall;

	at->pc = pc = some_code(chance, text, is_leaf, true);
	for (unsigned int n = 2 + below(chance, 30); n; n--) {
		const struct unwind_rule *rule = table_rule_at(pc - !is_leaf);

		if (!rule || rule->cfa != UNWIND_CFA_SP)
			return;
		sp += rule->cfa_offset;
		is_leaf = !below(chance, 10);
		pc = some_code(chance, text, is_leaf, true);
		memory_put(sp - 8, pc);
		if (!is_leaf)
			continue;
		restorer = some_code(chance, text, false, false);
		put_restorer(restorer);
		memory_put(sp - 8, restorer);
		put_signal(sp, pc, sp + 0x100, at->fp);
		sp += 0x100;
	}
	if (below(chance, 4))
		memory_put(sp - 8, 0);
}
