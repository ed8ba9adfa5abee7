// SPDX-License-Identifier: BSD-2-Clause
#include "exprs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the text this pattern, to its closing bracket? */
#define MATCHES(text, pattern, n, ...)                                                   \
	({                                                                               \
		int end_ = -1;                                                           \
		sscanf(text, pattern ")%n", __VA_ARGS__, &end_) == (n) && end_ > 0;      \
	})

static struct unwind_rule parse(const char *text)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_UNSUPPORTED };
	int a = 0, b = 0;

	if (MATCHES(text,
		    "(DW_OP_breg7 (rsp): %d; DW_OP_breg16 (rip): 0; DW_OP_lit15; "
		    "DW_OP_and; DW_OP_lit%d; DW_OP_ge; DW_OP_lit3; DW_OP_shl; DW_OP_plus",
		    2, &a, &b))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_PLT,
					     .cfa_offset = a,
					     .reg = (unsigned char)b };
	if (MATCHES(text, "(DW_OP_breg6 (rbp): %d; DW_OP_deref; DW_OP_plus_uconst: %d", 2,
		    &a, &b) ||
	    (b = 0, MATCHES(text, "(DW_OP_breg6 (rbp): %d; DW_OP_deref", 1, &a)))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_DEREF_FP,
					     .deref_offset = a,
					     .cfa_offset = b };
	if (MATCHES(text,
		    "(DW_OP_breg7 (rsp): %d; DW_OP_breg9 (r9): 0; DW_OP_lit8; "
		    "DW_OP_mul; DW_OP_plus; DW_OP_deref; DW_OP_plus_uconst: %d",
		    2, &a, &b))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_INDEXED,
					     .deref_offset = a,
					     .cfa_offset = b,
					     .reg = 9 };
	if (MATCHES(text, "(DW_OP_breg7 (rsp): %d; DW_OP_deref; DW_OP_plus_uconst: %d", 2,
		    &a, &b) ||
	    (b = 0, MATCHES(text, "(DW_OP_breg7 (rsp): %d; DW_OP_deref", 1, &a)))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_DEREF_SP,
					     .deref_offset = a,
					     .cfa_offset = b };
	if (MATCHES(text,
		    "(DW_OP_breg7 (rsp): %d; DW_OP_deref; DW_OP_plus_uconst: 0; "
		    "DW_OP_deref; DW_OP_plus_uconst: %d",
		    2, &a, &b))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_DEREF_TWICE,
					     .deref_offset = a,
					     .cfa_offset = b };
	return rule;
}

static int compare(const void *a, const void *b)
{
	const struct expr *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void exprs_read(struct exprs *exprs, const char *readelf, const char *path)
{
	unsigned long begin = 0, end = 0;
	char command[4096], line[4096];
	FILE *f;

	snprintf(command, sizeof(command),
		 "%s --debug-dump=frames,no-follow-links '%s' 2>/dev/null", readelf,
		 path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		const char *pc = strstr(line, " pc="), *open;

		if (pc)
			sscanf(pc, " pc=%lx..%lx", &begin, &end);
		if (!strstr(line, "DW_CFA_def_cfa_expression"))
			continue;
		open = strchr(line, '(');
		if (exprs->n % 1024 == 0)
			exprs->items = realloc(exprs->items,
					       (exprs->n + 1024) * sizeof(*exprs->items));
		exprs->items[exprs->n++] =
			(struct expr){ begin, end, parse(open ? open : "") };
	}
	if (f)
		pclose(f);
	if (exprs->n)
		qsort(exprs->items, exprs->n, sizeof(*exprs->items), compare);
}

void exprs_free(struct exprs *exprs)
{
	free(exprs->items);
	*exprs = (struct exprs){ 0 };
}

static bool stands_for(const struct unwind_rule *rule, const struct unwind_rule *expr)
{
	return rule->cfa == expr->cfa && rule->cfa_offset == expr->cfa_offset &&
	       rule->deref_offset == expr->deref_offset && rule->reg == expr->reg;
}

bool exprs_allow(const struct exprs *exprs, uint64_t pc, const struct unwind_rule *rule)
{
	size_t low = 0, high = exprs->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (exprs->items[mid].begin <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && exprs->items[low].end > pc)
		if (stands_for(rule, &exprs->items[low].rule))
			return true;
	return false;
}
