// SPDX-License-Identifier: BSD-2-Clause
/* Steps by unwind tables: every rule that there is, and when none is used. */
#include "code.h"

/* Callers without frame pointers: nothing but sp leads to them. */
static void test_by_sp(void **state)
{
	static const unsigned int sizes[] = { 8, 0x40, 0x1000, 0x4000, 24 };
	struct sampled at = leaf_in_code(0x20);
	struct unwind_rule rules[6];
	uint64_t sp = STACK;

	for (int i = 0; i < 5; i++) {
		rules[i] = RULE_SP(sizes[i]);
		sp = put_call(sp, sizes[i], i + 1);
	}
	rules[5] = RULE_OF(END);
	put_code(rules, 6, 0);
	at.process_info = tables_process_info();
	ASSERT_WALK(&at, "UCCCCC", "10020 10108 10208 10308 10408 10508", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	knobs.tables = 0;
	ASSERT_WALK(&at, "U", "10020 cut", UNREADABLE);
}

static void test_end_by_return_address(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(16), 4, 0);
	at = leaf_in_code(0);
	memory_put(put_call(STACK, 16, 1) + 8, 0);
	ASSERT_WALK(&at, "UC", "10000 10108", START);
	memory_put(STACK + 16 + 8, 1ULL << 56 | SITE(2));
	ASSERT_WALK(&at, "UC", "10000 10108 cut", BROKEN);
}

/* Its caller lies where nothing is mapped, as far as is known. */
static void test_caller_in_later_code(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(16), 4, 0);
	at = leaf_in_code(0);
	memory_put(put_call(STACK, 16, 1) + 8, 0x600000000000);
	at.code_bytes = at.process_info.code_bytes = 0x1000;
	ASSERT_WALK(&at, "UC", "10000 10108 cut", BROKEN);
	assert_false(walker_sample(&at)->flags & SAMPLE_AWAITED);
	at.code_bytes = 0x2000;
	ASSERT_WALK(&at, "UC", "10000 10108 cut", AWAITED);
	assert_true(walker_sample(&at)->flags & SAMPLE_AWAITED);
}

/* The leaf was not called by anybody. */
static void test_end_at_once(void **state)
{
	struct unwind_rule rule = RULE_OF(END);
	struct sampled at;

	put_code(&rule, 1, 0);
	at = leaf_in_code(0);
	ASSERT_WALK(&at, "U", "10000", START);
}

/* It is switching stacks: not a frame pointer leads on, nor what lies at sp. */
static void test_torn(void **state)
{
	struct unwind_rule rules[] = { RULE_OF(TORN), RULE_SP(0x20) };
	struct sampled at;

	put_code(rules, 2, 0);
	at = leaf_in_code(0);
	at.fp = STACK + 0x80;
	put_frame(STACK + 0x80, GARBAGE, SITE(1));
	put_call(STACK, 0x20, 1);
	ASSERT_WALK(&at, "U", "10000 cut", TORN);
	assert_int_equal(walker_sample(&at)->flags, 0);
	/* a caller that is, was left for good */
	at.pc = SITE(1);
	memory_put(STACK + 0x18, SITE(0));
	ASSERT_WALK(&at, "UC", "10108 10008 cut", TORN);
}

/* Functions with a frame pointer and without, in turns. */
static void test_by_fp(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_FP, RULE_SP(0x40), RULE_FP,
				       RULE_OF(END) };
	uint64_t sp = STACK, inner, outer;
	struct sampled at;

	put_code(rules, 5, 0);
	at = leaf_in_code(0);
	sp = put_call(sp, 0x20, 1);
	inner = sp + 0x60;
	outer = inner + 16 + 0x40 + 0x2000;
	sp = put_call(inner, 16, 2);
	put_call(sp, 0x40, 3);
	put_call(outer, 16, 4);
	memory_put(inner, outer);
	memory_put(outer, 0);
	at.fp = inner;
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
	/* its frame pointer is saved where the leaf says, not where it was */
	rules[0] = RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 0x20, .fp = UNWIND_FP_CFA,
			.fp_words = -3);
	tables_clear();
	put_code(rules, 5, 0);
	at.fp = GARBAGE;
	memory_put(STACK + 0x20 - 24, inner);
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
}

/* A stack whose frame keeps, at `where`, what leads behind it. */
static struct sampled put_deref(struct unwind_rule rule, uint64_t where)
{
	struct unwind_rule rules[] = { rule, RULE_SP(0x20), RULE_OF(END) };
	struct sampled at;

	put_code(rules, 3, 0);
	at = leaf_in_code(0);
	at.fp = STACK + 0x30;
	memory_put(where, STACK + 0x830);
	put_call(STACK + 0x800, 0x40, 1);
	put_call(STACK + 0x840, 0x20, 2);
	return at;
}

static void test_deref(void **state)
{
	struct unwind_rule by_sp = RULE(.cfa = UNWIND_CFA_DEREF_SP, .cfa_offset = 0x10,
					.deref_offset = 0x28);
	struct unwind_rule by_fp =
		RULE(.cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = 0x10, .deref_offset = -8);
	struct sampled at = put_deref(by_sp, STACK + 0x28);

	ASSERT_WALK(&at, "ULC", "10000 10108 10208", START);
	tables_clear();
	at = put_deref(by_fp, STACK + 0x28);
	ASSERT_WALK(&at, "ULC", "10000 10108 10208", START);
	memory_put(STACK + 0x28, 0x831);
	ASSERT_WALK(&at, "U", "10000 cut", BROKEN);
}

/* As OCaml's fibers keep their resumer's: a word says where its stack pointer is. */
static void test_deref_twice(void **state)
{
	struct unwind_rule rule = RULE(.cfa = UNWIND_CFA_DEREF_TWICE, .cfa_offset = 0x10,
				       .deref_offset = 0x28);
	struct sampled at = put_deref(rule, STACK + 0x48);

	memory_put(STACK + 0x28, STACK + 0x48);
	ASSERT_WALK(&at, "ULC", "10000 10108 10208", START);
	memory_put(STACK + 0x28, STACK - 0x100000);
	ASSERT_WALK(&at, "U", "10000", FP_ZERO);
}

/* gcc's realigned frames: the caller's fp lies where fp points. */
static void test_deref_with_saved_fp(void **state)
{
	struct unwind_rule rule = RULE(.cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = 0x10,
				       .deref_offset = -8, .fp = UNWIND_FP_DEREF);
	struct sampled at = put_deref(rule, STACK + 0x28);
	struct unwind_rule rules[] = { rule, RULE_FP, RULE_OF(END) };

	tables_clear();
	put_code(rules, 3, 0);
	memory_put(STACK + 0x30, STACK + 0x850);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
}

/* qhasm's frames keep their size; the caller's fp lies beside it. */
static void test_sized(void **state)
{
	struct unwind_rule rule =
		RULE(.cfa = UNWIND_CFA_SIZED, .cfa_offset = 0x8, .deref_offset = 0x20,
		     .fp = UNWIND_FP_SP, .fp_words = 5);
	struct unwind_rule rules[] = { rule, RULE_FP, RULE_OF(END) };
	struct sampled at = put_deref(rule, STACK + 0x48);

	tables_clear();
	put_code(rules, 3, 0);
	memory_put(at.sp + 0x20, STACK + 0x838 - at.sp);
	memory_put(at.sp + 0x28, STACK + 0x850);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	memory_put(at.sp + 0x20, -0x100000);
	ASSERT_WALK(&at, "U", "10000 cut", UNREADABLE);
}

/* What can't be read is not a pointer of 0. */
static void test_deref_unreadable(void **state)
{
	struct unwind_rule rule =
		RULE(.cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = 0x10, .deref_offset = -8);
	struct sampled at = put_deref(rule, STACK + 0x28);

	memory_unmap(STACK);
	ASSERT_WALK(&at, "U", "10000 cut", UNREADABLE);
}

/* A stack pointer that lies in memory, at the slot that a register numbers. */
static void test_indexed(void **state)
{
	struct unwind_rule rule = RULE(.cfa = UNWIND_CFA_INDEXED, .cfa_offset = 0x10,
				       .deref_offset = 0x8, .reg = 9);
	struct sampled at = put_deref(rule, STACK + 0x28);

	at.regs[9] = 4;
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	at.regs[9] = ~0ULL;
	memory_put(STACK + 0x28, 0);
	memory_put(at.sp, STACK + 0x830);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	at.regs[9] = 1ULL << 40;
	ASSERT_WALK(&at, "U", "10000", FP_ZERO);
}

/* Its first push is the 11th byte of an entry's 16. */
static void test_plt(void **state)
{
	struct unwind_rule rules[] = {
		RULE(.cfa = UNWIND_CFA_PLT, .cfa_offset = 8, .reg = 11), RULE_OF(END)
	};
	struct sampled at;

	put_code(rules, 2, 0);
	for (int i = 0; i < 64; i++) {
		at = leaf_in_code(i);
		memory_put(STACK, i % 16 >= 11 ? GARBAGE : SITE(1));
		memory_put(STACK + 8, i % 16 >= 11 ? SITE(1) : GARBAGE);
		assert_int_equal(walker_sample(&at)->n_thread, 2);
		assert_int_equal(walker_sample(&at)->ending, END_START);
		assert_int_equal(FRAME_ADDR(walker_sample(&at)->words[1]), SITE(1));
	}
}

/* Without a rule the frame pointer leads on, and the caller is not proven. */
static void test_no_rule(void **state)
{
	static const unsigned char kinds[] = { UNWIND_CFA_NONE, UNWIND_CFA_UNSUPPORTED,
					       N_UNWIND_CFAS, 255 };

	for (size_t i = 0; i < sizeof(kinds); i++) {
		struct unwind_rule rules[] = { RULE_SP(0x20), RULE(.cfa = kinds[i]),
					       RULE_SP(0x20), RULE_OF(END) };
		struct sampled at;

		world_setup(NULL);
		put_code(rules, 4, 0);
		at = leaf_in_code(0);
		at.fp = STACK + 0x80;
		put_call(STACK, 0x20, 1);
		put_frame(STACK + 0x80, GARBAGE, SITE(2));
		put_call(STACK + 0x90, 0x20, 3);
		ASSERT_WALK(&at, "UCPC", "10000 10108 10208 10308", START);
		assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
		at.pc = SITE(1);
		ASSERT_WALK(&at, "UPC", "10108 10208 10308", START);
	}
}

/* Code that no table will ever be of: by frame pointer, for what it is worth. */
static void test_by_fp_for_want_of_tables(void **state)
{
	struct sampled at;

	mapping_table_add(0x1000, 0x2000, 0, 0, UNWIND_BY_FP);
	put_like_code(RULE_SP(0x20), 2, 0);
	at = leaf_in_code(0);
	at.pc = 0x1000;
	at.fp = FP(STACK, 0);
	put_frame(at.fp, GARBAGE, SITE(1));
	put_call(at.fp + 16, 0x20, 2);
	ASSERT_WALK(&at, "UPC", "1000 10108 10208", START);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
}

/* Callers go by frame pointer and are proven, the leaf goes by table. */
static void test_keeps_fp(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(0x18), 4, UNWIND_KEEPS_FP);
	at = leaf_in_code(0);
	at.fp = STACK + 0x100;
	put_call(STACK, 0x18, 1);
	put_frame(STACK + 0x100, STACK + 0x200, SITE(2));
	put_frame(STACK + 0x200, 0, SITE(3));
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	knobs.faults = FAULT_FP_LEAF;
	ASSERT_WALK(&at, "UPC", "10000 10208 10308", FP_ZERO);
}

/* A stack that was made by hand may begin with a return address of 0: Zig's fibers do. */
static void test_zero_by_fp(void **state)
{
	struct sampled at;

	put_like_code(RULE_FP, 3, UNWIND_KEEPS_FP | UNWIND_CALLS);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 0);
	put_frame(FP(STACK, 0), FP(STACK, 1), SITE(1));
	put_frame(FP(STACK, 1), 0, 0);
	ASSERT_WALK(&at, "UC", "10000 10108", START);
	at.elsewhere = STACK;
	ASSERT_WALK(&at, "UC", "10000 10108", FIBER);
	at.elsewhere = 0;
	at.near_base = 1; /* there what began it would say more */
	ASSERT_WALK(&at, "UC", "10000 10108", FP_ZERO);
}

/* Where tables are still to come nothing is guessed. */
static void test_awaited(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(0x20), 2, 0);
	mapping_table_add(0x20000, 0x21000, 0, 0, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	memory_put(STACK + 0x38, 0x20008); /* a table that is not there */
	ASSERT_WALK(&at, "UCC", "10000 10108 20008 cut", AWAITED);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_AWAITED);
	memory_put(STACK + 0x38, 0x30008); /* where nothing is mapped */
	ASSERT_WALK(&at, "UC", "10000 10108 cut", BROKEN);
	assert_int_equal(walker_sample(&at)->flags, 0);
	at.pc = 0x30008; /* but a sampled pc is true */
	ASSERT_WALK(&at, "U", "30008 cut", AWAITED);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_AWAITED);
	at.pc = 0x20000;
	at.fp = FP(STACK, 2);
	ASSERT_WALK(&at, "U", "20000 cut", AWAITED);
	at.process_info.n_mappings = 0;
	ASSERT_WALK(&at, "U", "20000 cut", AWAITED);
	at.process_info.mapping_table = 0;
	ASSERT_WALK(&at, "U", "20000 cut", AWAITED);
}

/* Nothing is known of the caller's frame pointer: no end, a walk that broke. */
static void test_fp_lost(void **state)
{
	struct unwind_rule rules[] = { RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 0x20,
					    .fp = UNWIND_FP_LOST),
				       RULE_SP(0x20), RULE_FP, RULE_OF(END) };
	struct sampled at;

	put_code(rules, 4, 0);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 5);
	put_frame(at.fp, 0, SITE(3));
	put_call(put_call(STACK, 0x20, 1), 0x20, 3);
	ASSERT_WALK(&at, "UCC", "10000 10108 10308", START);
	put_call(STACK + 0x20, 0x20, 2);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208 cut", BROKEN);
	rules[2] = RULE_OF(NONE);
	tables_clear();
	put_code(rules, 4, 0);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208 cut", BROKEN);
}

/* A frame by table may end where its caller's frame record begins. */
static void test_no_circle(void **state)
{
	for (unsigned int n = 0; n < 40; n++) {
		struct sampled at;
		uint64_t sp = STACK;

		world_setup(NULL);
		table_begin();
		table_row(FUNCTION(0), RULE_SP(0x20));
		table_row(FUNCTION(n + 1), RULE_OF(NONE));
		table_row(FUNCTION(n + 2), RULE_OF(END));
		table_row(FUNCTION(n + 3), RULE_OF(NONE));
		mapping_table_add(CODE, FUNCTION(n + 3), 0, table_end(), 0);
		at = leaf_in_code(0);
		for (unsigned int i = 0; i <= n; i++)
			sp = put_call(sp, 0x20, i + 1);
		at.fp = sp;
		put_frame(sp, 0, SITE(n + 2));
		assert_int_equal(walker_sample(&at)->ending, END_START);
		assert_int_equal(walker_sample(&at)->n_thread, n + 3);
	}
}

/* A step that lies behind a long one is read alone: up to the page's end. */
static void test_last_word_of_a_page(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0xc00), RULE_SP(0x400), RULE_SP(8) };
	struct sampled at;

	put_code(rules, 3, 0);
	at = leaf_in_code(0);
	put_call(put_call(STACK, 0xc00, 1), 0x400, 2);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208 cut", UNREADABLE);
}

int run_table_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_by_sp),
		CASE(test_caller_in_later_code),
		CASE(test_end_by_return_address),
		CASE(test_end_at_once),
		CASE(test_torn),
		CASE(test_by_fp),
		CASE(test_deref),
		CASE(test_deref_twice),
		CASE(test_deref_with_saved_fp),
		CASE(test_sized),
		CASE(test_deref_unreadable),
		CASE(test_indexed),
		CASE(test_plt),
		CASE(test_no_rule),
		CASE(test_by_fp_for_want_of_tables),
		CASE(test_keeps_fp),
		CASE(test_zero_by_fp),
		CASE(test_awaited),
		CASE(test_fp_lost),
		CASE(test_no_circle),
		CASE(test_last_word_of_a_page),
	};

	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
