// SPDX-License-Identifier: BSD-2-Clause
/* Stacks that go on in other stacks. */
#include "code.h"

#include <string.h>

#define ROOT(i)	 (HEAP + 0x40 * (uint64_t)(i))
#define CHAIN(i) (HEAP + 0x10000 + 0x1000 * (uint64_t)(i))

#define STACKS 3
#define FRAMES 4 /* on each */

/* Three stacks, linked in a given order: leaf's first. */
struct fibers {
	uint64_t base[STACKS];
};

/* Frame i of all: i / FRAMES is its stack. */
static uint64_t fiber_fp(const struct fibers *f, unsigned int i)
{
	return FP(f->base[i / FRAMES], i % FRAMES);
}

static struct sampled put_fibers(const struct fibers *f)
{
	enum { N = STACKS * FRAMES };

	for (unsigned int i = 0; i < N; i++)
		put_frame(fiber_fp(f, i), i + 1 < N ? fiber_fp(f, i + 1) : 0, 0x1001 + i);
	return (struct sampled){ .pc = 0x1000,
				 .sp = f->base[0],
				 .fp = f->base[0] + 0x30 };
}

/* Roots by bit: frame 1, 5 and 9, those of the second of each stack. */
static void put_roots(struct sampled *at, const struct fibers *f, unsigned int which)
{
	uint64_t next = 0;

	for (int i = STACKS - 1; i >= 0; i--) {
		if (!(which >> i & 1))
			continue;
		put_root(ROOT(i), CHAIN(i), next, fiber_fp(f, FRAMES * i + 1));
		put_chain(CHAIN(i), 1, 0x2000 + i, 0);
		next = ROOT(i);
	}
	at->roots[0] = next;
}

static void assert_first_cut(const struct sampled *at, unsigned int which)
{
	char text[200], *p = text;

	for (unsigned int i = 0; i <= STACKS * FRAMES; i++) {
		if (i % FRAMES == 1 && i / FRAMES < STACKS && which >> i / FRAMES & 1) {
			sprintf(p, " -- %x", 0x2000 + i / FRAMES);
			break;
		}
		p += sprintf(p, "%s%x", i ? " " : "", 0x1000 + i);
	}
	ASSERT_ASYNC(at, text);
	assert_false(walker_sample(at)->flags & SAMPLE_UNMATCHED);
}

static void test_every_order_of_stacks(void **state)
{
	static const uint64_t gaps[] = { 0x20000, 0x100000, 0x10000000, 0x1000000000 };
	static const int orders[6][STACKS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (int g = 0; g < 4; g++) {
		for (int order = 0; order < 6; order++) {
			for (unsigned int which = 0; which < 8; which++) {
				struct fibers f;
				struct sampled at;

				world_setup(NULL);
				for (int i = 0; i < STACKS; i++)
					f.base[i] = STACK + gaps[g] * orders[order][i];
				at = put_fibers(&f);
				put_roots(&at, &f, which);
				assert_first_cut(&at, which);
				ASSERT_THREAD(&at, "1000 1001 1002 1003 1004 1005 1006 "
						   "1007 1008 1009 100a 100b 100c");
			}
		}
	}
}

/* A fiber that resumes whoever resumed it, seen in the middle of a switch. */
static void test_fibers_in_a_ring(void **state)
{
	struct fibers f = { { STACK, STACK + 0x100000, STACK + 0x200000 } };
	struct sampled at = put_fibers(&f);

	memory_put(fiber_fp(&f, STACKS * FRAMES - 1), fiber_fp(&f, 0));
	assert_int_equal(walker_sample(&at)->ending, END_CYCLE);
	put_roots(&at, &f, 7);
	ASSERT_ASYNC(&at, "1000 -- 2000");
	assert_int_equal(walker_sample(&at)->ending, END_CYCLE);
}

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

/* Who made the stack put a function there that nobody called, where no rule is.
 */
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

#define FIRST_RULE RULE_SP(8)

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

/* Perhaps it is one, and whoever resumed it has a root. */
static void test_bottom_hidden(void **state)
{
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_OF(NONE), RULE_FP,
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 4, UNWIND_CALLS);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	ASSERT_WALK(&at, "UB", "10000 cut", UNREADABLE);
	put_frame(STACK - 0x20000, 0, SITE(3));
	put_root(ROOT(0), CHAIN(0), 0, STACK - 0x20000);
	put_chain(CHAIN(0), 1, 0x2000, 0);
	at.roots[0] = ROOT(0);
	ASSERT_WALK(&at, "UBGRC", "10000 .. 10308", START);
	ASSERT_ASYNC(&at, "10000 .. -- 2000");
}

/* A root of the thread that the fiber's stack does not hold is its resumer's,
 * which the walk goes on with, wherever that stack is. */
static void test_root_of_resumer(void **state)
{
	static const uint64_t stacks[] = { OTHER, STACK + 0x1000000, STACK - 0x20000,
					   STACK - 0x1000000 };

	for (int i = 0; i < 4; i++) {
		struct sampled at;

		world_setup(NULL);
		put_like_code(RULE_SP(0x20), 6, 0);
		at = leaf_in_code(0);
		put_call(put_call(STACK, 0x20, 1), 0x20, 6);
		put_frame(stacks[i] + 0x100, 0, SITE(4));
		put_call(put_call(stacks[i] + 0x110, 0x20, 5), 0x20, 6);
		put_root(ROOT(0), CHAIN(0), 0, stacks[i] + 0x100);
		put_chain(CHAIN(0), 1, 0x2000, 0);
		at.roots[0] = ROOT(0);
		at.elsewhere = STACK;
		ASSERT_WALK(&at, "UCCGRCCC", "10000 10108 10608 .. 10408 10508 10608",
			    START);
		ASSERT_ASYNC(&at, "10000 10108 10608 -- .. -- 2000");
		memory_put(ROOT(0), 0); /* without a chain */
		ASSERT_ASYNC(&at, "10000 10108 10608 -- .. 10408 10508 10608");
		memory_put(ROOT(0), CHAIN(0));
		/* at the thread's own end it is nowhere, nor where it was left */
		at.elsewhere = 0;
		if (i != 1)
			ASSERT_WALK(&at, "UCC", "10000 10108 10608", START);
		at.elsewhere = STACK;
		put_root(ROOT(0), CHAIN(0), 0, STACK - 0x100);
		ASSERT_WALK(&at, "UCC", "10000 10108 10608", FIBER);
		assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	}
}

/* Of the stack that a crossing led to all was seen, too: a root that lies where
 * the walk has passed was left there, and its function's frame is not to be
 * told again. */
static void test_root_behind_crossing(void **state)
{
	struct unwind_rule crossing = RULE_CROSSING();
	struct unwind_rule rules[] = { RULE_SP(0x20),	 crossing,	RULE_FP,
				       RULE_SP(0x20000), RULE_SP(0x20), RULE_OF(END) };
	struct sampled at;

	put_code(rules, 6, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 1);
	memory_put(STACK + 0x20, OTHER);
	memory_put(OTHER + 8, SITE(4));
	put_call(put_call(put_call(OTHER + 0x10, 0x20, 3), 0x20000, 4), 0x20, 5);
	put_frame(OTHER + 0x20, GARBAGE, SITE(3));
	put_root(ROOT(0), 0, ROOT(1), OTHER + 0x20030);
	put_root(ROOT(1), CHAIN(0), 0, OTHER + 0x20);
	at.roots[0] = ROOT(0);
	at.elsewhere = OTHER + 0x20000;
	ASSERT_WALK(&at, "ULLCRCC", "10000 10108 10408 10308 10408 10508", FIBER);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

/* A fiber that waits may have been left by its thread: where its rule leads to
 * is whoever resumed it last, who may run by now. */
static void test_waiting_fiber(void **state)
{
	struct unwind_rule crossing = RULE_CROSSING();
	struct unwind_rule rules[] = { RULE_SP(0x20), RULE_FP, RULE_SP(0x20), crossing,
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 5, 0);
	at = leaf_in_code(0);
	put_call(STACK, 0x20, 4);
	put_root(ROOT(0), CHAIN(0), 0, STACK + 8);
	put_chain(CHAIN(0), 1, 0x2000, ROOT(1));
	put_root(ROOT(1), CHAIN(0), 0, OTHER + 0x40);
	put_frame(OTHER + 0x40, 0, SITE(2));
	memory_put(OTHER + 0x50 + 0x18, SITE(3));
	memory_put(OTHER + 0x50 + 0x20, THIRD);
	memory_put(THIRD + 8, SITE(4));
	at.roots[0] = ROOT(0);
	ASSERT_ASYNC(&at, "10000 -- 2000 -- 10308");
	assert_int_equal(
		SEGMENT_ENDING(segment_of(walker_sample(&at), SEGMENT_THREAD, 0)),
		END_FIBER);
}

int run_fiber_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_every_order_of_stacks),
		CASE(test_fibers_in_a_ring),
		CASE(test_code_that_ends_the_thread),
		CASE(test_zero_behind_an_unproven_step),
		CASE(test_foreign_start),
		CASE(test_bottom_without_rule),
		CASE(test_bottom_with_rule),
		CASE(test_bottom_by_fp),
		CASE(test_first_byte_above_a_part),
		CASE(test_bottom_at_first_byte),
		CASE(test_first_byte_twice),
		CASE(test_first_byte_over_blocks),
		CASE(test_bottom_hidden),
		CASE(test_root_of_resumer),
		CASE(test_root_behind_crossing),
		CASE(test_waiting_fiber),
	};

	return cmocka_run_group_tests_name("fibers", tests, NULL, NULL);
}
