// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finding a rule: the mapping, the block, the row. Each rule here ends its frame
 * elsewhere on a stack whose every word tells its place, so that the caller
 * tells the rule.
 */
#include "code.h"

#define BASE  0x7f0000000000
#define WORDS 1100

/* Code without a table, where callers go on. */
#define PLAIN	      0x1000
#define PLAIN_END     0x8000
#define PLAIN_SITE(k) (PLAIN + 16 * (k) + 8)

/* The rule whose caller is k. */
#define RULE_NUMBER(k) RULE_SP(8 * (k) + 8)

static void put_words(void)
{
	mapping_table_add(PLAIN, PLAIN_END, 0, 0, UNWIND_BY_FP);
	for (int k = 0; k < WORDS; k++)
		memory_put(STACK + 8 * k, PLAIN_SITE(k));
}

/* The kernel says what was published, and nothing was. */
static bool by_vmas;

static struct sampled leaf_of_case(void)
{
	static struct vma_list vmas;
	struct sampled at = leaf_in_code(0);
	const union unwind_page *pages = tables_page(at.process_info.mapping_table);

	if (!by_vmas)
		return at;
	vmas.n = at.process_info.n_mappings;
	assert_in_range(vmas.n, 1, VMAS_MAX);
	for (__u32 i = 1; i <= vmas.n; i++)
		vmas.of[i - 1] = pages[i / UNWIND_MAPPINGS_A_PAGE]
					 .mappings[i % UNWIND_MAPPINGS_A_PAGE];
	at.process_info.mapping_table = 0;
	at.vmas = &vmas;
	return at;
}

/* Which rule holds at pc: of a leaf there, or of the caller of one; -1: none. */
static int rule_at(uint64_t pc)
{
	struct sampled at = leaf_of_case();
	const struct sample_rec *rec;

	at.pc = pc;
	at.fp = 0;
	rec = walker_sample(&at);
	if (rec->n_thread < 2)
		return -1;
	return (FRAME_ADDR(rec->words[1]) - PLAIN) / 16;
}

static int rule_at_caller(uint64_t pc)
{
	struct sampled at = leaf_of_case();
	const struct sample_rec *rec;
	uint64_t sp = STACK - 8;

	at.pc = PLAIN_END - 1; /* to the caller by frame pointer */
	at.fp = sp - 8;
	put_frame(at.fp, 0, pc);
	rec = walker_sample(&at);
	if (rec->n_thread < 3)
		return -1;
	return (FRAME_ADDR(rec->words[2]) - PLAIN) / 16;
}

#define MAPPING_RULES	 16
#define MAPPING_START(i) (BASE + 0x2000 * (uint64_t)(i))

/* Mapping i has rule i % 16; every second one touches the next. */
static uint64_t mapping_end(unsigned int i)
{
	return i % 2 ? MAPPING_START(i) + 0x1000 : MAPPING_START(i + 1);
}

static void put_mappings(unsigned int n)
{
	uint32_t table;

	world_setup(NULL);
	put_words();
	table_begin();
	for (int k = 0; k < MAPPING_RULES; k++)
		table_row(0x2000 * k, RULE_NUMBER(k));
	table_row(0x2000 * MAPPING_RULES, RULE_OF(NONE));
	table = table_end();
	for (unsigned int i = 0; i < n; i++)
		mapping_table_add(MAPPING_START(i), mapping_end(i),
				  MAPPING_START(i) - 0x2000 * (i % MAPPING_RULES), table,
				  0);
}

static void check_mapping(unsigned int i, unsigned int n)
{
	int rule = i % MAPPING_RULES, next = i + 1 < n && i % 2 == 0 ? rule + 1 : -1;
	uint64_t start = MAPPING_START(i), end = mapping_end(i);

	assert_int_equal(rule_at(start), rule);
	assert_int_equal(rule_at(end - 1), rule);
	assert_int_equal(rule_at_caller(start + 1), rule);
	assert_int_equal(rule_at_caller(end), rule);
	assert_int_equal(rule_at(end), next);
	if (i % 2 == 0) {
		assert_int_equal(rule_at(start - 1), -1);
		assert_int_equal(rule_at_caller(start), -1);
	}
}

static void test_mappings(void **state)
{
	for (unsigned int n = 1; n < UNWIND_MAPPINGS_MAX; n++) {
		bool all = n < 10 || n % 128 < 2 || n % 128 == 127;

		put_mappings(n);
		for (unsigned int i = 0; i < n; i += all ? 1 : 1 + n / 5)
			check_mapping(i, n);
		check_mapping(n - 1, n);
		assert_int_equal(rule_at(BASE - 1), -1);
		assert_int_equal(rule_at(~0ULL >> 8), -1);
	}
}

/* Of a process that was not heard of yet. */
static void test_vmas(void **state)
{
	by_vmas = true;
	for (unsigned int n = 1; n < VMAS_MAX; n++) {
		put_mappings(n); /* and one where callers go on */
		for (unsigned int i = 0; i < n; i++)
			check_mapping(i, n);
		assert_int_equal(rule_at(BASE - 1), -1);
		assert_int_equal(rule_at(~0ULL >> 8), -1);
	}
	by_vmas = false;
}

/* n rows in the second of three blocks, spread over it. */
static uint64_t row_offset(unsigned int row, unsigned int n)
{
	return row * UNWIND_BLOCK_BYTES / n;
}

static void put_rows(unsigned int n)
{
	world_setup(NULL);
	put_words();
	table_begin();
	table_row(CODE, RULE_NUMBER(n));
	for (unsigned int i = 0; i < n; i++)
		table_row(CODE + UNWIND_BLOCK_BYTES + row_offset(i, n), RULE_NUMBER(i));
	table_row(CODE + 2 * UNWIND_BLOCK_BYTES, RULE_NUMBER(n + 1));
	table_row(CODE + 3 * UNWIND_BLOCK_BYTES, RULE_OF(NONE));
	mapping_table_add(CODE, CODE + 0x10000, 0, table_end(), 0);
}

static void test_rows(void **state)
{
	for (unsigned int n = 1; n <= UNWIND_BLOCK_BYTES; n++) {
		bool all = n < 10 || (n & (n - 1)) == 0 || (n & (n + 1)) == 0;
		uint64_t block = CODE + UNWIND_BLOCK_BYTES;
		unsigned int row = 0;

		put_rows(n);
		for (unsigned int at = 0; at < UNWIND_BLOCK_BYTES; at++) {
			while (row + 1 < n && row_offset(row + 1, n) <= at)
				row++;
			if (all || at % 37 == n % 37)
				assert_int_equal(rule_at(block + at), row);
		}
		assert_int_equal(rule_at_caller(block + 1), 0);
		assert_int_equal(rule_at_caller(block), n);
		assert_int_equal(rule_at(block - 1), n);
		assert_int_equal(rule_at(block + UNWIND_BLOCK_BYTES), n + 1);
	}
}

/* Functions of many blocks, holes of many, and more blocks than a page has. */
static void test_blocks(void **state)
{
	const uint64_t long_one = CODE + 0x180, hole = long_one + 0x2000;
	const uint64_t behind = hole + 0x1230, last = CODE + 1030 * UNWIND_BLOCK_BYTES;
	const uint64_t end = last + 5;

	put_words();
	table_begin();
	table_row(long_one, RULE_NUMBER(1));
	table_row(hole, RULE_OF(NONE));
	table_row(behind, RULE_NUMBER(2));
	table_row(last, RULE_NUMBER(3));
	table_row(end, RULE_OF(NONE));
	mapping_table_add(CODE - 0x8000, end + 0x10000, 0, table_end(), 0);
	for (uint64_t pc = CODE - 0x2000; pc < end + 0x2000; pc++) {
		int rule = pc < long_one ? -1 : pc < hole ? 1 : pc < behind ? -1 : 2;

		if (pc >= last)
			rule = pc < end ? 3 : -1;
		if (pc % UNWIND_BLOCK_BYTES == 7)
			pc += 0x3e0; /* the rest of a block says the same */
		else
			assert_int_equal(rule_at(pc), rule);
	}
}

/* A file may be linked at any address and mapped at any other. */
static void test_bias(void **state)
{
	static const uint64_t linked[] = { 0, 0x400000, 0xffffffff80000000,
					   0x7ffffffff000 };

	for (size_t i = 0; i < sizeof(linked) / sizeof(*linked); i++) {
		world_setup(NULL);
		put_words();
		table_begin();
		table_row(linked[i], RULE_NUMBER(1));
		table_row(linked[i] + 0x100, RULE_NUMBER(2));
		table_row(linked[i] + 0x200, RULE_OF(NONE));
		mapping_table_add(BASE, BASE + 0x1000, BASE - linked[i], table_end(), 0);
		assert_int_equal(rule_at(BASE), 1);
		assert_int_equal(rule_at(BASE + 0xff), 1);
		assert_int_equal(rule_at(BASE + 0x100), 2);
		assert_int_equal(rule_at(BASE + 0x200), -1);
		assert_int_equal(rule_at(BASE - 1), -1);
	}
}

/* A mapping table that was given up, or another's by now, is none. */
static void test_generation(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(16), 2, 0);
	put_call(put_call(STACK, 16, 1), 16, 2);
	at = leaf_in_code(0);
	at.fp = 0;
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	tables_page(at.process_info.mapping_table)->mapping_head.generation++;
	ASSERT_WALK(&at, "U", "10000 cut", AWAITED);
	tables_page(at.process_info.mapping_table)->mapping_head.generation = 0;
	ASSERT_WALK(&at, "U", "10000 cut", AWAITED);
	at.process_info.mapping_table = 0;
	ASSERT_WALK(&at, "U", "10000 cut", AWAITED);
	at.process_info.mapping_table = TABLES_PAGES;
	ASSERT_WALK(&at, "U", "10000 cut", AWAITED);
}

/* Page numbers that lead nowhere, one after the other. */
static void test_pages_that_are_not_there(void **state)
{
	struct sampled at;
	struct unwind_head head;
	uint32_t table;

	put_like_code(RULE_SP(16), 2, 0);
	put_call(put_call(STACK, 16, 1), 16, 2);
	at = leaf_in_code(0);
	at.fp = 0;
	table = tables_page(at.process_info.mapping_table)->mappings[1].table;
	head = tables_page(table)->head;
	for (int i = 0; i < 4; i++) {
		struct unwind_head *corrupt = &tables_page(table)->head;

		*corrupt = head;
		ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
		if (i == 0)
			corrupt->rules_page = TABLES_PAGES;
		if (i == 1)
			corrupt->blocks_page = ~0u - table;
		if (i == 2)
			corrupt->rows_page = 1u << 31;
		if (i == 3)
			tables_page(at.process_info.mapping_table)->mappings[1].table =
				~0u;
		walker_forget(0); /* it would remember the rules */
		ASSERT_WALK(&at, "U", "10000 cut", BROKEN);
	}
}

int run_mapping_table_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_mappings),
		CASE(test_vmas),
		CASE(test_rows),
		CASE(test_blocks),
		CASE(test_bias),
		CASE(test_generation),
		CASE(test_pages_that_are_not_there),
	};

	return cmocka_run_group_tests_name("mapping_tables", tests, NULL, NULL);
}
