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
		CASE(test_every_order_of_stacks), CASE(test_fibers_in_a_ring),
		CASE(test_bottom_hidden),	  CASE(test_root_of_resumer),
		CASE(test_root_behind_crossing),  CASE(test_waiting_fiber),
	};

	return cmocka_run_group_tests_name("fibers", tests, NULL, NULL);
}
