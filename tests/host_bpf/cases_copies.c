// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generated code that was copied, and is walked by the table of the copy while it is what
 * was copied: a leaf, a caller, and what became of them since.
 */
#include "code.h"

#define COPY	 0x40000ULL /* two pages of it */
#define MADE	 0x40010ULL /* the leaf's frame is up from here on, */
#define LEAF	 0x40100ULL /* it is interrupted there, */
#define LEAF_END 0x40200ULL
#define CALLER	 0x41400ULL /* and called from this function, whose frame */
#define UP	 0x41420ULL /* is up from here on, */
#define SITE_AT	 0x41508ULL /* here. */
#define ELSE	 0x41600ULL

static void put_copied_code(void)
{
	for (uint64_t at = COPY; at < COPY + 0x2000; at += 8)
		memory_put(at, 0x9090909090909090 ^ at << 20);
	put_call_before(SITE_AT);
	put_call_before(SITE(1));
}

/* Function 1 called CALLER, that LEAF; frame pointers lead astray. */
static struct sampled put_copy(void)
{
	struct unwind_rule end = RULE_OF(END);
	struct sampled at;
	uint32_t copied;

	world_setup(NULL);
	put_copied_code();
	table_begin();
	table_row(COPY, RULE_SP(8));
	table_row(MADE, RULE_SP(0x40));
	table_row(LEAF_END, RULE_OF(NONE));
	table_row(CALLER, RULE_SP(8));
	table_row(UP, RULE_SP(0x60));
	table_row(ELSE, RULE_OF(NONE));
	copied = table_end_copy();
	put_code((struct unwind_rule[]){ end, end }, 2, 0);
	mapping_table_add(COPY, COPY + 0x2000, 0, copied, UNWIND_COPIED);
	at = leaf_in_code(0);
	at.pc = LEAF;
	at.fp = STACK + 0x200;
	put_frame(at.fp, 0, SITE(0));
	memory_put(STACK + 0x40 - 8, SITE_AT);
	memory_put(STACK + 0x40 + 0x60 - 8, SITE(1));
	return at;
}

static void test_same(void **state)
{
	struct sampled at = put_copy();

	ASSERT_WALK(&at, "UCC", "40100 41508 10108", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	/* in the last word of a page that there is, and in the kernel */
	at.pc = LEAF + 0xf8;
	ASSERT_WALK(&at, "UCC", "401f8 41508 10108", START);
	at.in_syscall = true;
	ASSERT_WALK(&at, "SCC", "401f8 41508 10108", START);
	/* before its frame is up */
	at = put_copy();
	at.pc = COPY;
	memory_put(STACK, SITE_AT);
	memory_put(STACK + 0x60, SITE(1));
	ASSERT_WALK(&at, "UCC", "40000 41508 10108", START);
}

static void change(uint64_t addr)
{
	uint64_t word;

	memory_get(addr & ~7ULL, &word);
	memory_put(addr & ~7ULL, word ^ 0x0100000000000000);
}

/* By one bit: nothing that is known of it holds, nor does its frame pointer. */
static void test_changed(void **state)
{
	static const struct {
		uint64_t at;
		unsigned int is_at_caller;
	} changes[] = {
		{ LEAF, 0 },	{ LEAF + 8, 0 },    { MADE - 8, 0 }, { MADE - 16, 0 },
		{ SITE_AT, 1 }, { SITE_AT - 8, 1 }, { UP - 8, 1 },   { UP - 16, 1 },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct sampled at = put_copy();

		change(changes[i].at);
		if (changes[i].is_at_caller)
			ASSERT_WALK(&at, "UC", "40100 41508 cut", TORN);
		else
			ASSERT_WALK(&at, "U", "40100 cut", TORN);
	}
}

/* What lies elsewhere is of no interest. */
static void test_changed_elsewhere(void **state)
{
	static const uint64_t changes[] = { LEAF - 8, LEAF + 16,   MADE, COPY + 0x800, UP,
					    UP - 24,  SITE_AT + 16 };

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct sampled at = put_copy();

		change(changes[i]);
		ASSERT_WALK(&at, "UCC", "40100 41508 10108", START);
	}
}

/* The code is gone, or the copy has none. */
static void test_unreadable(void **state)
{
	struct sampled at = put_copy();

	memory_unmap(COPY);
	ASSERT_WALK(&at, "U", "40100 cut", TORN);
	at = put_copy();
	tables_page(mapping_table_find(COPY)->table)->head.code_page = 0;
	ASSERT_WALK(&at, "UP", "40100 10008", START);
}

/* Nobody called from there: the rule is not its. */
static void test_no_call(void **state)
{
	struct sampled at = put_copy();

	memory_put(STACK + 0x40 - 8, SITE_AT + 0x10);
	at.fp = 0;
	ASSERT_WALK(&at, "UC", "40100 41518", FP_ZERO);
}

/* Where the copy has no rule: by frame pointer, as if there were none. */
static void test_without_rule(void **state)
{
	struct sampled at = put_copy();

	at.pc = ELSE + 8;
	ASSERT_WALK(&at, "UP", "41608 10008", START);
}

int run_copy_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_same),       CASE(test_changed), CASE(test_changed_elsewhere),
		CASE(test_unreadable), CASE(test_no_call), CASE(test_without_rule),
	};

	return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
