// SPDX-License-Identifier: BSD-2-Clause
/* Where stacks begin: at a thread's start, or by the hand of who made them. */
#include "code.h"

/* A frame pointer of 0 may be any register's; but a thread ends where its first function
 * returns to. */
static void test_code_that_ends_the_thread(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_OF(NONE) };
	struct sampled at;

	put_code(rules, 2, 0);
	at = leaf_in_code(0);
	at.fp = 0;
	put_call(STACK, 0x20, 1);
	put_call_before(SITE(1));
	memory_put(SITE(1), 0x050f3cb0c031c789); /* exit()'s number; syscall */
	memory_put(SITE(1) + 8, 0);
	ASSERT_WALK(&at, "UC", "10000 10108", START);
	memory_put(SITE(1), 0x050f3bb0c031c789); /* another's */
	ASSERT_WALK(&at, "UC", "10000 10108", FP_ZERO);
}

static void put_register_call_before(uint64_t pc)
{
	memory_put(pc - 8, 0xd0ff585f00000000); /* call *%rax */
}

/* mov %rax, %rdi; mov $number, %eax; syscall */
static void put_system_call(uint64_t pc, uint64_t number)
{
	memory_put(pc, 0xb8c78948 | number << 32);
	memory_put(pc + 8, 0x050f);
}

/* What clone() starts within a function calls what it was given, and ends the thread. The
 * function's own callers are its maker's. */
static void test_thread_that_begins_within(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x20), RULE_SP(0x20),
				       RULE_SP(0x20), RULE_SP(0x20) };
	struct sampled at;

	put_code(rules, 5, UNWIND_CALLS);
	at = leaf_in_code(0);
	put_call(put_call(put_call(put_call(STACK, 0x20, 1), 0x20, 2), 0x20, 3), 0x20, 4);
	put_register_call_before(SITE(1));
	put_system_call(SITE(1), 59);
	put_call_before(SITE(2)); /* fatal() of a program without a C library */
	put_system_call(SITE(2), 60);
	put_register_call_before(SITE(3));
	put_system_call(SITE(3), 60);
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START); /* as remembered */
}

/* The same where code keeps frame pointers, whose maker's leads to another stack. */
static void test_thread_that_begins_within_by_fp(void **state)
{
	uint64_t far = STACK + SAME_STACK_BYTES + 0x100;
	struct sampled at;

	put_like_code(RULE_FP, 3, UNWIND_KEEPS_FP | UNWIND_CALLS);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 0);
	put_frame(FP(STACK, 0), far, SITE(1));
	put_frame(far, 0, SITE(2));
	put_register_call_before(SITE(1));
	put_system_call(SITE(1), 60);
	ASSERT_WALK(&at, "UC", "10000 10108", START);
}

/* Nor is a return address of 0, where a frame pointer led that nothing proves. */
static void test_zero_behind_an_unproven_step(void **state)
{
	struct unwind_rule rules[] = { RULE_OF(NONE), RULE_SP(0x20), RULE_SP(0x20) };
	struct sampled at;

	put_code(rules, 3, 0);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 1);
	put_frame(at.fp, 0, SITE(1));
	ASSERT_WALK(&at, "UP", "10000 10108", FP_ZERO);
	put_call(at.fp + 16, 0x20, 2); /* nor what true steps lead to from there */
	ASSERT_WALK(&at, "UPC", "10000 10108 10208", FP_ZERO);
	at.elsewhere = STACK;
	ASSERT_WALK(&at, "UPC", "10000 10108 10208", FP_ZERO);
	at.elsewhere = 0;
	memory_put(SITE(2), 0x050f3cb0c031c789); /* exit()'s number; syscall */
	memory_put(SITE(2) + 8, 0);
	ASSERT_WALK(&at, "UPC", "10000 10108 10208", START);
}

/* Four other words end no stack, nor does the right one on the thread's own. */
static void no_other_word_ends(struct sampled at, const uint64_t others[4])
{
	for (int i = 0; i < 4; i++) {
		memory_put(STACK + 0x38, others[i]);
		ASSERT_WALK(&at, "UC", "10100 10208 cut", BROKEN);
	}
	memory_put(STACK + 0x38, 0xdeaddeaddeaddead);
	at.elsewhere = 0;
	ASSERT_WALK(&at, "UC", "10100 10208 cut", BROKEN);
}

/* Who made a stack may put a word there that is no address, and is seen to be none. */
static void test_placeholder(void **state)
{
	static const uint64_t others[] = { 0xaaaaaaaaaaaaaaaa, 0xffffffffffffffff,
					   0xdeadbeefdeadbeef, 0xdeadbeaddeaddead };
	struct unwind_rule rules[] = { RULE_OF(NONE), RULE_SP(0x20), RULE_SP(0x20) };
	struct sampled at;

	put_code(rules, 3, 0);
	at = leaf_in_code(0x100);
	at.elsewhere = STACK;
	put_call(STACK, 0x20, 2);
	memory_put(STACK + 0x38, 0xdeaddeaddeaddead);
	ASSERT_WALK(&at, "UC", "10100 10208", FIBER);
	no_other_word_ends(at, others);
	at = leaf_in_code(0);
	at.elsewhere = STACK;
	at.fp = STACK - 0x10; /* by a step that nothing proves */
	put_frame(at.fp, 0, SITE(1));
	put_call(STACK, 0x20, 2);
	ASSERT_WALK(&at, "UPC", "10000 10108 10208 cut", BROKEN);
}

/* The same where code keeps frame pointers. */
static void test_placeholder_by_fp(void **state)
{
	struct sampled at;

	put_like_code(RULE_FP, 3, UNWIND_KEEPS_FP | UNWIND_CALLS);
	at = leaf_in_code(0);
	at.elsewhere = STACK;
	at.fp = FP(STACK, 0);
	put_frame(FP(STACK, 0), FP(STACK, 1), SITE(1));
	put_frame(FP(STACK, 1), 0, 0xdeaddeaddeaddead);
	ASSERT_WALK(&at, "UC", "10000 10108", FIBER);
	at.elsewhere = 0;
	ASSERT_WALK(&at, "UC", "10000 10108 cut", BROKEN);
}

/* arm64 signs it as it signs addresses, so what is left of it looks like one. */
static void test_signed_placeholder(void **state)
{
	static const uint64_t others[] = { 0xaaaaaaaaaaaa, 0xdeadbeefdead, 0x006100610061,
					   0x610061006100 };
	struct unwind_rule rules[] = { RULE_OF(NONE), RULE_SP(0x20), RULE_SP(0x20) };
	struct sampled at;

	rules[1].fp = UNWIND_FP_CFA;
	rules[1].fp_words = -2;
	fp_gives_sp = false;
	knobs.addr_mask = (1ULL << 48) - 1;
	put_code(rules, 3, 0);
	at = leaf_in_code(0x100);
	at.elsewhere = STACK;
	put_call(STACK, 0x20, 2);
	memory_put(STACK + 0x38, 0x5a21deaddeaddead);
	ASSERT_WALK(&at, "UC", "10100 10208", FIBER);
	at.code_bytes = 1 << 20; /* more than is known is mapped, but not that */
	ASSERT_WALK(&at, "UC", "10100 10208", FIBER);
	at.code_bytes = 0;
	knobs.addr_mask = (1ULL << 55) - 1; /* of a machine that signs none */
	memory_put(STACK + 0x38, 0xdeaddeaddeaddead);
	ASSERT_WALK(&at, "UC", "10100 10208", FIBER);
	no_other_word_ends(at, others);
	at = leaf_in_code(0);
	at.elsewhere = STACK;
	at.fp = STACK - 0x10; /* by a step that nothing proves */
	put_frame(at.fp, STACK, SITE(1));
	put_frame(STACK, 0, 0xdeaddeaddeaddead);
	ASSERT_WALK(&at, "UP", "10000 10108 cut", BROKEN);
}

/* What begins elsewhere than the thread did is no start of the thread's. */
static void test_foreign_start(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(0x20), 2, 0);
	at = leaf_in_code(0);
	put_call(put_call(STACK, 0x20, 1), 0x20, 2);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	at.elsewhere = STACK;
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", FIBER);
	/* a return address of 0 */
	memory_put(STACK + 0x18, 0);
	ASSERT_WALK(&at, "U", "10000", FIBER);
	at.elsewhere = 0;
	ASSERT_WALK(&at, "U", "10000", START);
}

/* Who made the stack put a function there that nobody called, where no rule is. */
static void test_bottom_without_rule(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x20), RULE_OF(NONE) };
	struct sampled at;

	put_code(rules, 3, 0);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 4);
	put_call(put_call(STACK, 0x20, 1), 0x20, 2);
	put_frame(at.fp, 0, SITE(0)); /* as whoever made it has it */
	ASSERT_WALK(&at, "UCCP", "10000 10108 10208 10008", FP_ZERO);
	memory_put(SITE(2) - 8, 0x9090909090909090);
	memory_put(SITE(2), 0x90);
	memory_put(SITE(2) + 8, 0x90);
	ASSERT_WALK(&at, "UCB", "10000 10108", FIBER);
	put_call_before(SITE(2));
	ASSERT_WALK(&at, "UCCP", "10000 10108 10208 10008", FP_ZERO);
	memory_put(SITE(2) - 8, 0x1850ff9090909090ULL); /* call *0x18(%rax) */
	ASSERT_WALK(&at, "UCCP", "10000 10108 10208 10008", FP_ZERO);
}

/* Or code that sets the frame pointer to 0 before its call, as Photon's stub, of which
 * there is no rule. On the thread's own stack it has a caller all the same. */
static void test_bottom_that_zeroes_fp(void **state)
{
	static const struct {
		const char code[17];
		bool is_bottom;
	} cases[] = {
		{ "\x48\x31\xed\x48\x8b\x7b\x40\x48\x89\x6b\x40\xff\x53\x48", true },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x31\xed\xff\x53\x48", true },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x29\xed\xff\x53\x48", true },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x2b\xed\xff\x53\x48", true },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x33\xed\xff\x53\x48", true },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x01\xed\xff\x53\x48", false },
		{ "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x31\xdb\xff\x53\x48", false },
	};
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_OF(NONE) };
	const uint64_t at_call = FUNCTION(1) + 0x20;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at;
		uint64_t words[3] = { 0 };

		world_setup(NULL);
		put_code(rules, 2, 0);
		memcpy((char *)words + sizeof(words) - 14, cases[i].code, 14);
		for (int k = 0; k < 3; k++)
			memory_put(at_call - 24 + 8 * (uint64_t)k, words[k]);
		memory_put(at_call, 0);
		memory_put(at_call + 8, 0);
		at = leaf_in_code(0);
		at.fp = 0;
		at.elsewhere = STACK;
		memory_put(STACK + 0x18, at_call);
		if (cases[i].is_bottom)
			ASSERT_WALK(&at, "UC", "10000 10120", FIBER);
		else
			ASSERT_WALK(&at, "UC", "10000 10120", FP_ZERO);
		at.elsewhere = 0;
		ASSERT_WALK(&at, "UC", "10000 10120", FP_ZERO);
	}
}

/* Where rules are: code that can be read, and in which no call ends there. */
static void test_bottom_with_rule(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(0x20), 3, UNWIND_CALLS);
	at = leaf_in_code(0);
	put_call(put_call(put_call(STACK, 0x20, 1), 0x20, 2), 0x20, 3);
	for (int i = 1; i <= 2; i++)
		put_call_before(SITE(i));
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	memory_put(SITE(1) - 8, 0x9090909090909090);
	walker_forget(0);
	ASSERT_WALK(&at, "UB", "10000", FIBER);
	/* who is remembered is so with what lies before it */
	ASSERT_WALK(&at, "UB", "10000", FIBER);
	/* on the thread's own stack it is a tracer's */
	at.near_base = 1;
	ASSERT_WALK(&at, "UB", "10000 cut", BROKEN);
	at.near_base = 0;
	at.pc = SITE(1) - 1; /* the same byte, of a leaf */
	put_call(put_call(STACK, 0x20, 2), 0x20, 1);
	walker_forget(0);
	ASSERT_WALK(&at, "UCB", "10107 10208", FIBER);
	/* what can't be read is believed; where some return without a call, all is */
	memory_unmap(CODE);
	walker_forget(0);
	put_call(put_call(STACK + 0x20, 0x20, 1), 0x20, 3);
	ASSERT_WALK(&at, "UCCC", "10107 10208 10108 10308", START);
	tables_clear();
	put_like_code(RULE_SP(0x20), 3, 0);
	at.process_info = tables_process_info();
	memory_put(SITE(1) - 8, 0x9090909090909090);
	ASSERT_WALK(&at, "UCCC", "10107 10208 10108 10308", START);
}

/* Frame pointers lead on, but not from one stack to another. */
static void test_bottom_by_fp(void **state)
{
	struct sampled at;

	put_like_code(RULE_FP, 3, UNWIND_KEEPS_FP | UNWIND_CALLS);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 0);
	put_frame(FP(STACK, 0), FP(STACK, 1), SITE(1));
	put_frame(FP(STACK, 1), OTHER, SITE(2));
	put_frame(OTHER, 0, SITE(1));
	memory_put(SITE(2) - 8, 0x9090909090909090);
	ASSERT_WALK(&at, "UCB", "10000 10108", FIBER);
	put_frame(FP(STACK, 1), 0, SITE(2)); /* cleared by who made it */
	ASSERT_WALK(&at, "UCB", "10000 10108", FIBER);
	put_call_before(SITE(2));
	walker_forget(0);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
}

#define FIRST_RULE RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .reg = UNWIND_FIRST)

#define WHOLE (FUNCTION(0) + 0x10)

/* Functions 0 to n - 1, with a rule each; in 0 one begins at WHOLE, or, of a part, where
 * no compiler lets one begin, and its rule is that of what is behind it, at 0x20. */
static void put_whole_functions(const struct unwind_rule *rules, unsigned int n,
				bool is_part)
{
	table_begin();
	table_row(FUNCTION(0), RULE_SP(0x40));
	table_row(WHOLE + (is_part ? 2 : 0), FIRST_RULE);
	for (unsigned int i = 0; i < n; i++)
		table_row(i ? FUNCTION(i) : FUNCTION(0) + 0x20, rules[i]);
	table_row(FUNCTION(n), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(n), 0, table_end(), UNWIND_CALLS);
}

/* What is below a first byte, of five functions. */
static void put_five(bool is_part)
{
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x10), FIRST_RULE,
					     RULE_SP(0x20), RULE_OF(END) };

	put_whole_functions(rules, 5, is_part);
}

/* A part of a function is below, in an entry of its own behind one that begins where no
 * compiler lets a function begin: whose it is no row says, so the call is believed. */
static void test_first_byte_above_a_part(void **state)
{
	for (int is_part = 0; is_part < 2; is_part++) {
		struct sampled at;

		world_setup(NULL);
		put_five(is_part);
		at = leaf_in_code(0x20);
		memory_put(STACK + 0x18, FUNCTION(2));
		put_call(STACK + 0x20, 0x10, 4);
		put_call_before(SITE(4));
		memory_put(FUNCTION(2) - 8, 0x00000080e8000000);
		for (int i = 0; i < 4; i++)
			memory_put(FUNCTION(2) + 0x80 + 8 * i, 0x90909090909090);
		if (is_part)
			ASSERT_WALK(&at, "UCC", "10020 10200 10408", START);
		else
			ASSERT_WALK(&at, "UB", "10020", FIBER);
	}
}

/* A function's first byte, and what is before it calls, by chance. */
static void test_bottom_at_first_byte(void **state)
{
	struct sampled at;

	put_five(false);
	at = leaf_in_code(0x20);
	memory_put(STACK + 0x18, FUNCTION(2));
	put_call(STACK + 0x20, 0x10, 4);
	put_call_before(SITE(4));
	/* of the frame below: it is true */
	memory_put(FUNCTION(2) - 8, (uint64_t)(WHOLE - FUNCTION(2)) << 32 | 0xe8000000);
	ASSERT_WALK(&at, "UCC", "10020 10200 10408", START);
	/* before which another begins that the frame below is in */
	for (int i = 0; i < 4; i++)
		memory_put(WHOLE + 8 * i, 0x90909090909090);
	at.pc = FUNCTION(3);
	ASSERT_WALK(&at, "UB", "10300", FIBER);
	at.pc = FUNCTION(0) + 0x20;
	/* of one that it is not in */
	memory_put(FUNCTION(2) - 8, 0x00000080e8000000);
	memory_put(FUNCTION(2) + 0x80, 0x90909090909090);
	memory_put(FUNCTION(2) + 0x98, 0x90909090909090);
	ASSERT_WALK(&at, "UB", "10020", FIBER);
	/* which goes on elsewhere, perhaps in that one:
	 * jmp, jmp *(%rip), jmp *%rax */
	for (int i = 0; i < 3; i++) {
		static const uint64_t jumps[] = { 0x12345678e99090, 0x1234567825ff9090,
						  0xe0ff909090 };

		memory_put(FUNCTION(2) + 0x90, jumps[i]);
		ASSERT_WALK(&at, "UCC", "10020 10200 10408", START);
	}
	/* another kind of call says nothing of where it leads */
	memory_put(FUNCTION(2) + 0x90, 0x90909090909090);
	memory_put(FUNCTION(2) - 8, 0x1850ff9090909090);
	ASSERT_WALK(&at, "UCC", "10020 10200 10408", START);
}

/* Within a function the stack may be as it was at first: gcc probes it so
 * (-fstack-clash-protection) in what never returns. */
static void test_first_byte_above_a_probe(void **state)
{
	const struct unwind_rule rules[] = { FIRST_RULE,    RULE_SP(0x10), RULE_SP(8),
					     RULE_SP(0x20), RULE_SP(0x10), FIRST_RULE,
					     RULE_OF(END) };
	struct sampled at;

	put_code(rules, 7, UNWIND_CALLS);
	at = leaf_in_code(FUNCTION(3) - FUNCTION(0)); /* of one that begins at 0 */
	memory_put(STACK + 0x18, FUNCTION(5));
	put_call(STACK + 0x20, 0x10, 6);
	put_call_before(SITE(6));
	for (int i = 0; i < 4; i++)
		memory_put(FUNCTION(0) + 8 * (uint64_t)i, 0x90909090909090);
	memory_put(FUNCTION(5) - 8,
		   (uint64_t)(FUNCTION(0) - FUNCTION(5)) << 32 | 0xe8000000);
	ASSERT_WALK(&at, "UCC", "10300 10500 10608", START);
}

/* Two calls in turn are the last thing that their functions do: the frame below is in
 * the function before the one whose first byte it returns to. */
static void test_first_byte_twice(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), FIRST_RULE,    RULE_SP(0x20),
				       FIRST_RULE,    RULE_SP(0x20), RULE_OF(END) };
	struct sampled at;

	put_whole_functions(rules, 6, false);
	at = leaf_in_code(FUNCTION(4) - FUNCTION(0));
	memory_put(STACK + 0x18, FUNCTION(1));
	memory_put(STACK + 0x38, FUNCTION(3));
	put_call(STACK + 0x40, 0x20, 5);
	put_call_before(SITE(5));
	for (int i = 0; i < 4; i++) {
		memory_put(WHOLE + 8 * i, 0x90909090909090);
		memory_put(FUNCTION(1) + 8 * i, 0x90909090909090);
	}
	memory_put(FUNCTION(1) - 8,
		   (uint64_t)(FUNCTION(3) - FUNCTION(1)) << 32 | 0xe8000000);
	memory_put(FUNCTION(3) - 8, (uint64_t)(WHOLE - FUNCTION(3)) << 32 | 0xe8000000);
	ASSERT_WALK(&at, "UCCC", "10400 10100 10300 10508", START);
	/* of the function behind the one that the frame below is in */
	memory_put(FUNCTION(3) - 8,
		   (uint64_t)(FUNCTION(1) - FUNCTION(3)) << 32 | 0xe8000000);
	ASSERT_WALK(&at, "UCB", "10400 10100", FIBER);
}

/* The function that was called goes on in the next block of the table, whose
 * first row looks like a function's first. */
static void test_first_byte_over_blocks(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x10), FIRST_RULE,
				       FIRST_RULE,    FIRST_RULE,    RULE_OF(END) };
	struct sampled at;

	put_code(rules, 6, UNWIND_CALLS);
	at = leaf_in_code(FUNCTION(4) + 0x10 - FUNCTION(0));
	memory_put(STACK, FUNCTION(2));
	put_call(STACK + 8, 0x10, 5);
	put_call_before(SITE(5));
	memory_put(FUNCTION(2) - 8,
		   (uint64_t)(FUNCTION(3) - FUNCTION(2)) << 32 | 0xe8000000);
	for (int i = 0; i < 4; i++)
		memory_put(FUNCTION(3) + 8 * i, 0x90909090909090);
	ASSERT_WALK(&at, "UCC", "10410 10200 10508", START);
}

int run_bottom_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_code_that_ends_the_thread),
		CASE(test_thread_that_begins_within),
		CASE(test_thread_that_begins_within_by_fp),
		CASE(test_zero_behind_an_unproven_step),
		CASE(test_placeholder),
		CASE(test_placeholder_by_fp),
		CASE(test_signed_placeholder),
		CASE(test_foreign_start),
		CASE(test_bottom_without_rule),
		CASE(test_bottom_that_zeroes_fp),
		CASE(test_bottom_with_rule),
		CASE(test_bottom_by_fp),
		CASE(test_first_byte_above_a_probe),
		CASE(test_first_byte_above_a_part),
		CASE(test_bottom_at_first_byte),
		CASE(test_first_byte_twice),
		CASE(test_first_byte_over_blocks),
	};

	return cmocka_run_group_tests_name("bottoms", tests, NULL, NULL);
}
