// SPDX-License-Identifier: BSD-2-Clause
/* Where roots are met on a thread's stack. */
#include "world.h"

#include <string.h>

#define ROOT(i)	 (HEAP + 0x40 * (uint64_t)(i))
#define CHAIN(i) (HEAP + 0x10000 + 0x1000 * (uint64_t)(i))

/* Root i, of a chain of two frames at ip, registered by stack frame `frame`. */
static void put_task(int i, uint64_t ip, unsigned int frame, uint64_t next)
{
	put_root(ROOT(i), ip ? CHAIN(i) : 0, next, FP(STACK, frame));
	if (ip)
		put_chain(CHAIN(i), 2, ip, 0);
}

static void test_one_root(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 6, 0x1000);
	put_task(0, 0x2000, 2, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001");
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004 1005 1006");
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN | SAMPLE_ASYNC);
}

/*
 * The function that registered keeps no frame pointer of its own, so that none
 * on the stack equals the root's. With the rule off this must fail.
 */
static void test_by_interval(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 6, 0x1000);
	put_task(0, 0x2000, 2, 0);
	for (uint64_t fp = FP(STACK, 1) + 16; fp <= FP(STACK, 2); fp += 8) {
		memory_put(ROOT(0) + 16, fp);
		ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001");
	}
	memory_put(ROOT(0) + 16, FP(STACK, 1) + 8);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");

	knobs.faults = FAULT_NO_INTERVAL;
	for (uint64_t fp = FP(STACK, 1) + 16; fp < FP(STACK, 2); fp += 8) {
		memory_put(ROOT(0) + 16, fp);
		assert_string_not_equal(view_text(&at, VIEW_ASYNC),
					"1000 1001 -- 2000 2001");
	}
}

static void test_large_frames(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	uint64_t far = FP(STACK, 0) + SAME_STACK_BYTES - 64;

	put_frame(FP(STACK, 0), far, 0x1001);
	put_frame(far, far + 0x100, 0x1002);
	put_frame(far + 0x100, 0, 0x1003);
	put_task(0, 0x2000, 0, 0);
	memory_put(ROOT(0) + 16, STACK + 0x8000);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	knobs.faults = FAULT_NO_INTERVAL;
	assert_string_not_equal(view_text(&at, VIEW_ASYNC), "1000 -- 2000 2001");
}

/* Beyond 64 KB it is another stack: only a frame's own record bounds it. */
static void test_far_step_is_no_interval(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	uint64_t far = FP(STACK, 0) + 4 * SAME_STACK_BYTES;

	put_frame(FP(STACK, 0), far, 0x1001);
	put_frame(far, far + 0x100, 0x1002);
	put_frame(far + 0x100, 0, 0x1003);
	put_task(0, 0x2000, 0, 0);
	memory_put(ROOT(0) + 16, far);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	memory_put(ROOT(0) + 16, far + 0x100);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001");
	memory_put(ROOT(0) + 16, STACK + SAME_STACK_BYTES);
	ASSERT_ASYNC(&at, "1000 1001 1002 1003");
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

static void test_nested_and_transparent(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 10, 0x1000);
	for (int i = 0; i < 5; i++)
		put_task(i, 0, 1 + 2 * i, i < 4 ? ROOT(i + 1) : 0);
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 1005 1006 1007 1008 1009 100a");
	assert_false(walker_sample(&at)->flags & (SAMPLE_ASYNC | SAMPLE_UNMATCHED));
	for (int i = 4; i >= 0; i--) {
		char text[100], *p = text;

		for (int frame = 0; frame < 1 + 2 * i; frame++)
			p += sprintf(p, "%x ", 0x1000 + frame);
		sprintf(p, "-- %x %x", 0x2000 + 16 * i, 0x2001 + 16 * i);
		put_task(i, 0x2000 + 16 * i, 1 + 2 * i, i < 4 ? ROOT(i + 1) : 0);
		ASSERT_ASYNC(&at, text);
	}
	assert_int_equal(SEGMENT_ROOT(segment_of(walker_sample(&at), SEGMENT_CHAIN, 4)),
			 4);
}

/* One function, several roots; the outer ones idle, then one that isn't. */
static void test_several_in_one_frame(void **state)
{
	for (int n = 2; n <= 8; n++) {
		struct sampled at = leaf_in_root(0x1000, ROOT(0));

		world_setup(NULL);
		put_stack(STACK, 6, 0x1000);
		for (int i = 0; i < n - 1; i++)
			put_task(i, 0, 2, ROOT(i + 1));
		put_task(n - 1, 0x2000, 2, ROOT(n));
		put_task(n, 0x3000, 4, 0);
		ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001");
		assert_false(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
		put_task(n - 1, 0, 2, ROOT(n));
		ASSERT_ASYNC(&at, "1000 1001 1002 1003 -- 3000 3001");
	}
}

/* The sampled address is true wherever it lies; the mark follows it. */
static void test_leaf_in_dispatcher(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 3, 0x1000);
	put_task(0, 0x2000, 0, 0);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	ASSERT_THREAD(&at, "1000 1001 1002 1003");
	put_task(0, 0, 0, 0);
	ASSERT_ASYNC(&at, "1000 1001 1002 1003");
}

/* In the memory of frame 2, registered where frame 1 is now. */
#define HELD (FP(STACK, 1) + FRAME_BYTES)

static struct sampled put_held(uint64_t ra)
{
	put_stack(STACK, 6, 0x1000);
	put_root(HELD, CHAIN(0), ROOT(1), FP(STACK, 1));
	memory_put(HELD + 24, ra);
	put_chain(CHAIN(0), 2, 0x2000, 0);
	put_task(1, 0x3000, 4, 0);
	return leaf_in_root(0x1000, HELD);
}

/* Another function runs in the place of the one that registered: its caller holds
 * the root. The same return address: it is that function still. */
static void test_registrant_returned(void **state)
{
	struct sampled at = put_held(0x1777);

	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001");
	memory_put(HELD, 0);
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 -- 3000 3001");
	at = put_held(0x1002);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	at = put_held(0);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	knobs.addr_mask = 0xffffffffffff; /* signed in one of both places */
	at = put_held(0x1234000000001002);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
}

/* The holder itself was sampled: what it called lies below its stack. */
static void test_registrant_below_the_stack(void **state)
{
	struct sampled at = put_held(0x1002);

	at.pc = 0x1002;
	at.fp = FP(STACK, 2);
	at.sp = HELD - 1;
	ASSERT_ASYNC(&at, "1002 -- 2000 2001");
	assert_false(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	memory_put(HELD, 0);
	ASSERT_ASYNC(&at, "1002 1003 -- 3000 3001");
	/* behind another root: a second one that frame 2 holds */
	put_root(ROOT(2), 0, HELD, FP(STACK, 2));
	at.roots[0] = ROOT(2);
	memory_put(HELD, CHAIN(0));
	ASSERT_ASYNC(&at, "1002 -- 2000 2001");
	assert_false(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

/* Where its holder's frame lies such a root can't tell: nothing goes on from it. */
static void test_no_checkpoint_at_a_held_root(void **state)
{
	struct sampled at = put_held(0x1777);

	memory_put(FP(STACK, 0), 0);
	ASSERT_ASYNC(&at, "1000 1001");
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

static void test_gap_and_checkpoint(void **state)
{
	static const uint64_t lost[] = { 0, 7, 0x123456789000, ~0ULL };
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 6, 0x1000);
	put_task(0, 0, 3, 0);
	for (int i = 0; i < 4; i++) {
		put_frame(FP(STACK, 0), lost[i], 0x1001);
		ASSERT_THREAD(&at, "1000 1001 .. 1004 1005 1006");
		assert_int_equal(walker_sample(&at)->ending, END_FP_ZERO);
		at.fp = lost[i];
		ASSERT_THREAD(&at, "1000 .. 1004 1005 1006");
		at.fp = FP(STACK, 0);
	}
	put_task(0, 0x2000, 3, 0);
	ASSERT_ASYNC(&at, "1000 1001 .. -- 2000 2001");
}

static void test_checkpoint_with_two_roots(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 8, 0x1000);
	put_frame(FP(STACK, 0), 0, 0x1001);
	put_task(0, 0, 3, ROOT(1));
	put_task(1, 0, 3, ROOT(2));
	put_task(2, 0x2000, 5, 0);
	ASSERT_ASYNC(&at, "1000 1001 .. 1004 -- 2000 2001");
	put_task(1, 0x3000, 3, ROOT(2));
	ASSERT_ASYNC(&at, "1000 1001 .. -- 3000 3001");
	assert_false(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

static void test_checkpoint_after_cycle(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 6, 0x1000);
	put_frame(FP(STACK, 1), FP(STACK, 1), 0x1002);
	put_task(0, 0x2000, 3, 0);
	assert_non_null(strstr(view_text(&at, VIEW_ASYNC), "1002 .. -- 2000 2001"));
	put_task(0, 0, 3, 0);
	assert_non_null(strstr(view_text(&at, VIEW_ASYNC), "1002 .. 1004 1005 1006"));
	assert_int_equal(walker_sample(&at)->ending, END_FP_ZERO);
}

static void test_no_checkpoint_behind_or_far(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	static const uint64_t fps[] = { STACK - 0x40, STACK + CHECKPOINT_BYTES + 0x1000,
					STACK + 0x1001 };

	put_stack(STACK, 1, 0x1000);
	for (int i = 0; i < 3; i++) {
		put_task(0, 0x2000, 3, 0);
		memory_put(ROOT(0) + 16, fps[i]);
		ASSERT_ASYNC(&at, "1000 1001");
		assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	}
}

static void test_more_roots_than_room(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	const struct sample_rec *rec;
	unsigned int n_roots = 0;

	put_stack(STACK, MAX_ROOTS + 8, 0x1000);
	for (int i = 0; i < MAX_ROOTS + 4; i++)
		put_task(i, 0x2000, i + 1, i < MAX_ROOTS + 3 ? ROOT(i + 1) : 0);
	ASSERT_ASYNC(&at, "1000 -- 2000 2001");
	rec = walker_sample(&at);
	assert_int_equal(rec->n_thread, MAX_ROOTS + 9 + MAX_ROOTS + 1);
	for (int i = 0; i < rec->n_thread; i++)
		n_roots += FRAME_KIND(rec->words[i]) == FRAME_ROOT;
	assert_int_equal(n_roots, MAX_ROOTS + 1);
	assert_int_equal(rec->ending, END_FP_ZERO);
	assert_true(rec->flags & SAMPLE_ROOTS_CUT);
}

/* Where the first that is not followed lies, its callers are missing. */
static void test_a_root_too_many_is_a_gap(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	const char *text;

	put_stack(STACK, MAX_ROOTS + 8, 0x1000);
	for (int i = 0; i < MAX_ROOTS; i++)
		put_task(i, 0, i + 1, i + 1 < MAX_ROOTS ? ROOT(i + 1) : 0);
	assert_null(strstr(view_text(&at, VIEW_ASYNC), ".."));
	assert_false(walker_sample(&at)->flags & SAMPLE_ROOTS_CUT);

	put_task(MAX_ROOTS - 1, 0, MAX_ROOTS, ROOT(MAX_ROOTS));
	put_task(MAX_ROOTS, 0, MAX_ROOTS + 1, 0);
	text = view_text(&at, VIEW_ASYNC);
	assert_non_null(strstr(text, "1040 .. 1041 1042"));
	assert_null(strstr(view_text(&at, VIEW_THREAD), ".."));
	assert_true(walker_sample(&at)->flags & SAMPLE_ROOTS_CUT);
}

static void test_roots_in_a_ring(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 8, 0x1000);
	put_task(0, 0, 2, ROOT(1));
	put_task(1, 0, 4, ROOT(0));
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 1005 1006 1007 1008");
	put_task(0, 0, 2, ROOT(0));
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 1005 1006 1007 1008");
}

static void test_roots_that_are_none(void **state)
{
	static const uint64_t bad[] = { ROOT(1) + 1, 0x10, 0x123456789000, ~0ULL << 56 };
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 4, 0x1000);
	put_task(1, 0x3000, 3, 0);
	for (int i = 0; i < 4; i++) {
		put_task(0, 0, 2, bad[i]);
		ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004");
	}
}

static void test_two_keys(void **state)
{
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 8, 0x1000);
	for (int i = 0; i < 4; i++) {
		put_root(ROOT(i), 0, i < 2 ? ROOT(i + 2) : 0, FP(STACK, 2 * i + 1));
		put_chain(CHAIN(i), 1, 0x2000 + i, 0);
	}
	at.roots[0] = ROOT(0);
	at.roots[1] = ROOT(1);
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 1005 1006 1007 1008");
	memory_put(ROOT(3), CHAIN(3));
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 1005 1006 -- 2003");
	memory_put(ROOT(2), CHAIN(2));
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004 -- 2002");
	memory_put(ROOT(1), CHAIN(1));
	ASSERT_ASYNC(&at, "1000 1001 1002 -- 2001");
	memory_put(ROOT(0), CHAIN(0));
	ASSERT_ASYNC(&at, "1000 -- 2000");
	/* the walk breaks: the nearest of both is taken */
	memory_put(FP(STACK, 0), 0);
	memory_put(ROOT(0), 0);
	memory_put(ROOT(0) + 16, FP(STACK, 6));
	memory_put(ROOT(0) + 8, 0);
	ASSERT_ASYNC(&at, "1000 1001 .. -- 2001");
}

static void test_as_many_keys_in_one_frame(void **state)
{
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 4, 0x1000);
	for (int i = 0; i < KEYS_MAX; i++) {
		put_root(ROOT(i), 0, 0, FP(STACK, 2));
		at.roots[i] = ROOT(i);
	}
	put_chain(CHAIN(0), 1, 0x2000, 0);
	memory_put(ROOT(KEYS_MAX - 1), CHAIN(0));
	ASSERT_ASYNC(&at, "1000 1001 -- 2000");
}

int run_root_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_one_root),
		CASE(test_by_interval),
		CASE(test_large_frames),
		CASE(test_far_step_is_no_interval),
		CASE(test_nested_and_transparent),
		CASE(test_several_in_one_frame),
		CASE(test_leaf_in_dispatcher),
		CASE(test_registrant_returned),
		CASE(test_registrant_below_the_stack),
		CASE(test_no_checkpoint_at_a_held_root),
		CASE(test_gap_and_checkpoint),
		CASE(test_checkpoint_with_two_roots),
		CASE(test_checkpoint_after_cycle),
		CASE(test_no_checkpoint_behind_or_far),
		CASE(test_more_roots_than_room),
		CASE(test_a_root_too_many_is_a_gap),
		CASE(test_roots_in_a_ring),
		CASE(test_roots_that_are_none),
		CASE(test_two_keys),
		CASE(test_as_many_keys_in_one_frame),
	};

	return cmocka_run_group_tests_name("roots", tests, NULL, NULL);
}
