// SPDX-License-Identifier: BSD-2-Clause
/* Rules, and where functions start, by code and by what a file has beside call frame
 * information. */
#include "parsers.h"

#include "obj/code_starts.h"
#include "unwind/fde_cfa.h"
#include "unwind/leaf_arm64.h"
#include "unwind/unwind_table.h"
#include "unwind/x86_flow.h"

#define LEAF_VADDR 0x1000

void fuzz_fde_cfa(const uint8_t *data, size_t n)
{
	uint64_t offset;

	for (uint64_t at = 0; at < 0x1000; at = 2 * at + 1)
		fde_cfa_is_by_sp(data, n, at, &offset);
}

struct told_row {
	uint64_t begin, end, last;
	bool any, is_open;
};

static int on_flow_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct told_row *told = arg;

	REQUIRE(pc >= told->begin && pc <= told->end);
	REQUIRE(!told->any || pc > told->last);
	/* 0: the return address was popped to look at it, and is pushed back next */
	REQUIRE(rule->cfa != UNWIND_CFA_SP || rule->cfa_offset >= 8 || !rule->cfa_offset);
	told->is_open = rule->cfa != UNWIND_CFA_NONE;
	told->last = pc;
	told->any = true;
	return 0;
}

static void require_starts(const struct code_text *text)
{
	AUTO(code_starts) starts = NULL;
	size_t at, last = SIZE_MAX;

	REQUIRE(!code_starts_new(&starts, text));
	while (code_starts_next(starts, &at)) {
		REQUIRE(at < text->n && (last == SIZE_MAX || at > last));
		last = at;
	}
}

void fuzz_flow(const uint8_t *data, size_t n)
{
	uint64_t begin = n & 4 ? 0x1003 : 0xfc0; /* from where V8's builtins may begin */
	struct told_row told = { .begin = begin, .end = begin + n };
	const struct cfi_sink sink = { .arg = &told, .row = on_flow_row };
	const struct x86_code code = { .bytes = data,
				       .n = n,
				       .vaddr = told.begin,
				       .before = n & 1 ? 100 : 0,
				       .behind = n & 2 ? 100 : 0 };
	AUTO(x86_flow) flow = NULL;

	REQUIRE(!x86_flow_read(&code, &flow));
	REQUIRE(!x86_flow_tell(flow, 0, n, &sink));
	REQUIRE(!told.is_open);
	for (int i = 0; i < 4; i++)
		require_starts(&(struct code_text){ data, n, told.begin, i & 1, i & 2 });
}

/* Of a whole file: a program of Go's is told by its table and its assembly. */
void fuzz_go_rules(const uint8_t *data, size_t n)
{
	AUTO(unwind_table) table = NULL;

	require_error(unwind_table_build(MEMORY_FD, NULL, &table));
}

struct leaf_rows {
	uint64_t end, last;
	bool leads;
};

static int on_leaf_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct leaf_rows *rows = arg;
	bool leads = rule->cfa == UNWIND_CFA_SP;

	REQUIRE(pc >= LEAF_VADDR && pc <= rows->end);
	REQUIRE(leads != rows->leads && (pc > rows->last || !rows->last));
	rows->last = pc;
	rows->leads = leads;
	return 0;
}

void fuzz_leaf(const uint8_t *data, size_t n)
{
	struct leaf_rows rows = { .end = LEAF_VADDR + n };
	const struct cfi_sink sink = { .arg = &rows, .row = on_leaf_row };
	AUTO_FREE bool *leaf = NULL;

	REQUIRE(!leaf_arm64_find(data, n, &leaf));
	REQUIRE(!leaf_arm64_tell(leaf, 0, n, LEAF_VADDR, &sink));
	REQUIRE(!rows.leads);
}
