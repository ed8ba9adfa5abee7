// SPDX-License-Identifier: BSD-2-Clause
/* Rules that lead to another stack: those of functions that were put below what a fiber
 * runs. And what is a start of a thread near its base. */
#include "code.h"

/* Its rule leads to another stack: no call need have led to it. */
static void test_launch(void **state)
{
	struct unwind_rule crossing = RULE_CROSSING();
	struct unwind_rule rules[] = { RULE_SP(0x20), crossing, RULE_SP(0x40),
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 4, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	memory_put(STACK + 0x20, OTHER);
	put_call(put_call(OTHER, 0x10, 2), 0x40, 3);
	ASSERT_WALK(&at, "ULLC", "10000 10108 10208 10308", START);
	ASSERT_ASYNC(&at, "10000 10108 10208 10308");
}

/* The same from its first instruction on, so that what it leads to resumed it. */
static void test_resumer(void **state)
{
	struct unwind_rule crossing = RULE_CROSSING(.reg = UNWIND_LEADS);
	struct unwind_rule rules[] = { RULE_SP(0x20), crossing, RULE_SP(0x40), crossing,
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 5, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	memory_put(STACK + 0x20, OTHER);
	put_call(put_call(OTHER, 0x10, 2), 0x40, 4);
	ASSERT_WALK(&at, "ULFC", "10000 10108 10208 10408", START);
	ASSERT_ASYNC(&at, "10000 10108 -- 10208 10408");
	/* of a fiber in a fiber, resumed by its first function itself */
	put_call(OTHER, 0x10, 3);
	memory_put(OTHER + 0x10, THIRD);
	put_call(put_call(THIRD, 0x10, 2), 0x40, 4);
	ASSERT_WALK(&at, "ULFFC", "10000 10108 10308 10208 10408", START);
	ASSERT_ASYNC(&at, "10000 10108 -- 10308 -- 10208 10408");
	/* sampled there */
	at = leaf_in_code(FUNCTION(3) - FUNCTION(0));
	at.sp = OTHER + 0x10;
	ASSERT_WALK(&at, "UFC", "10300 10208 10408", START);
	ASSERT_ASYNC(&at, "10300 -- 10208 10408");
	/* and with a root at the boundary: who asked is what is shown */
	put_root(HEAP, HEAP + 0x10000, 0, THIRD + 0x20);
	put_chain(HEAP + 0x10000, 1, 0x2000, 0);
	at.roots[0] = HEAP;
	ASSERT_WALK(&at, "URFC", "10300 10208 10408", START);
	ASSERT_ASYNC(&at, "10300 -- 2000");
}

#define FAR(i) (OTHER + 0x10000 * (uint64_t)(i))

/* What is read for a leaf above so many stacks, a function on each, that lead on. */
static unsigned int reads_across(unsigned int boundaries)
{
	struct unwind_rule crossing = RULE_CROSSING(.reg = UNWIND_LEADS);
	struct unwind_rule rules[] = { RULE_SP(0x20), crossing, RULE_OF(END) };
	struct sampled at;
	unsigned int before;

	world_setup(NULL);
	put_code(rules, 3, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	memory_put(STACK + 0x20, FAR(0));
	for (unsigned int i = 0; i < boundaries; i++) {
		put_call(FAR(i), 0x10, i + 1 < boundaries ? 1 : 2);
		memory_put(FAR(i) + 0x10, FAR(i + 1));
	}
	before = memory_reads();
	assert_int_equal(walker_sample(&at)->n_thread, 2 + boundaries);
	return memory_reads() - before;
}

/* A read of a stack costs as much as 1.6 steps by table, so a boundary of one
 * read and one step costs less than three. */
static void test_cost_of_boundaries(void **state)
{
	unsigned int one = reads_across(1), nine = reads_across(9);

	assert_int_equal(nine - one, 8);
}

/* Its own way back is by three words at its frame pointer; what is there was
 * left behind a jump, and goes on by its frame pointer, which nothing proves. */
static void test_launch_by_frame_pointer(void **state)
{
	struct unwind_rule way_back = { .cfa = UNWIND_CFA_DEREF_FP,
					.deref_offset = -8,
					.fp = UNWIND_FP_DEREF,
					.bx_words = UNWIND_BX_LOST,
					.ra = UNWIND_RA_FP,
					.ra_words = 1 };
	struct unwind_rule rules[] = { RULE_SP(0x20), way_back, RULE_SP(0x40),
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 4, UNWIND_CALLS);
	at = leaf_in_code(0);
	at.fp = STACK + 0x100;
	put_call(STACK, 0x20, 1);
	put_call_before(SITE(1));
	memory_put(at.fp - 8, OTHER);
	put_frame(at.fp, OTHER + 0x100, SITE(2));
	memory_put(SITE(2) - 8, 0x9090909090909090);
	put_call(OTHER, 0x40, 3);
	put_call_before(SITE(3));
	ASSERT_WALK(&at, "ULFC", "10000 10108 10208 10308", START);
	ASSERT_ASYNC(&at, "10000 10108 -- 10208 10308");
	assert_int_equal(walker_sample(&at)->flags, 0);
}

/* call rel32 before that address, to another. */
static void put_call_to(uint64_t pc, uint64_t to)
{
	memory_put(pc - 8, (to - pc) << 32 | 0xe8000000);
}

/*
 * A stack that was made within a function, 2, and is resumed by a jump: its frame pointer
 * is still the maker's, who returned. What lies there by now called another function, 4,
 * so there the stack ends; if the maker is there still, nobody can tell.
 */
static struct sampled put_maker(struct unwind_rule its)
{
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x20), its,
					     RULE_SP(0x40), RULE_SP(8),	   RULE_OF(END) };
	uint64_t more = its.cfa_offset - 16;
	struct sampled at;

	table_begin();
	for (unsigned int i = 0; i < 6; i++) {
		table_row(FUNCTION(i), RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8,
					    .reg = UNWIND_FIRST));
		table_row(FUNCTION(i) + 4, rules[i]);
	}
	table_row(FUNCTION(6), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(6), 0, table_end(), UNWIND_CALLS);
	at = leaf_in_code(4);
	at.sp = OTHER;
	at.fp = STACK + 0x100;
	put_call(put_call(OTHER, 0x20, 1), 0x20, 2);
	put_frame(at.fp, 0, SITE(2) + 1);
	memory_put(at.fp + more + 8, SITE(3));
	put_call(at.fp + more + 16, 0x40, 5);
	for (unsigned int i = 1; i < 6; i++)
		put_call_before(SITE(i));
	return at;
}

static void test_maker_that_has_gone(void **state)
{
	struct sampled at = put_maker(RULE_FP);

	put_call_to(SITE(3), FUNCTION(2));
	ASSERT_WALK(&at, "UCCCC", "10004 10108 10208 10308 10508", START);
	put_call_to(SITE(3), FUNCTION(4));
	for (int i = 0; i < 4; i++)
		memory_put(FUNCTION(4) + 8 * i, 0x9090909090909090);
	ASSERT_WALK(&at, "UCCB", "10004 10108 10208", FIBER);
	/* which may have gone on in that one */
	memory_put(FUNCTION(4) + 16, 0x90905678e9909090);
	ASSERT_WALK(&at, "UCCCC", "10004 10108 10208 10308 10508", START);
}

/* __morestack's frame has a return address more, which is not gone back to: who called,
 * called the function that it makes room for. */
static void test_room_on_another_stack(void **state)
{
	struct unwind_rule more = RULE_FP;
	struct sampled at;

	more.cfa_offset = 24;
	more.fp_words = -3;
	at = put_maker(more);
	put_call_to(SITE(3), FUNCTION(4));
	for (int i = 0; i < 4; i++)
		memory_put(FUNCTION(4) + 8 * i, 0x9090909090909090);
	ASSERT_WALK(&at, "UCCCC", "10004 10108 10208 10308 10508", START);
}

/* Near a stack's base, 0 is a start's only where the thread ends behind it, or where an
 * entry says that nobody called: else a word of a frame that is larger than its rule. */
static void test_end_near_the_base(void **state)
{
	struct sampled at;

	put_like_code(RULE_SP(16), 4, 0);
	at = leaf_in_code(0);
	at.near_base = 1;
	memory_put(put_call(STACK, 16, 1) + 8, 0);
	ASSERT_WALK(&at, "UC", "10000 10108 cut", BROKEN);
	memory_put(SITE(1), 0x050f3cb0c789); /* mov %eax, %edi; mov $60, %al; syscall */
	memory_put(SITE(1) + 8, 0);
	ASSERT_WALK(&at, "UC", "10000 10108", START);
	memory_put(STACK + 16 + 8, FUNCTION(4) + 1);
	ASSERT_WALK(&at, "UCC", "10000 10108 10401", START);
}

int run_crossing_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_end_near_the_base),
		CASE(test_launch),
		CASE(test_resumer),
		CASE(test_cost_of_boundaries),
		CASE(test_launch_by_frame_pointer),
		CASE(test_maker_that_has_gone),
		CASE(test_room_on_another_stack),
	};

	return cmocka_run_group_tests_name("crossings", tests, NULL, NULL);
}
