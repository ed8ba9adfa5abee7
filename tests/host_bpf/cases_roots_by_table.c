// SPDX-License-Identifier: BSD-2-Clause
/* Roots, gaps, waits and crossings where no frame but a root's own has a frame
 * pointer. */
#include "code.h"

#define ROOT(i)		 (HEAP + 0x40 * (uint64_t)(i))
#define CHAIN(i)	 (HEAP + 0x10000 + 0x1000 * (uint64_t)(i))
#define SIZE		 0x40
#define END_OF(stack, i) ((stack) + SIZE * ((i) + 1ULL)) /* of frame i's memory */

/* Frames 0 to n - 1 of SIZE bytes, one function each, called by END. */
static struct sampled put_frames(uint64_t stack, unsigned int first, unsigned int n)
{
	uint64_t sp = stack;
	struct sampled at;

	for (unsigned int i = 0; i < n; i++)
		sp = put_call(sp, SIZE, first + i + 1);
	at = leaf_in_code(0);
	at.sp = stack;
	return at;
}

#define BY_FP 0x5000 /* code without a table */

static struct sampled put_thread(unsigned int n)
{
	mapping_table_add(BY_FP, BY_FP + 0x1000, 0, 0, UNWIND_BY_FP);
	put_like_code(RULE_SP(SIZE), n, 0);
	return put_frames(STACK, 0, n);
}

/* Root i, registered in the frame that ends there, of a chain of two at ip. */
static void put_task(int i, uint64_t ip, uint64_t frame_end, uint64_t next)
{
	put_root(ROOT(i), ip ? CHAIN(i) : 0, next, frame_end - FRAME_BYTES);
	if (ip)
		put_chain(CHAIN(i), 2, ip, 0);
}

/* Wherever in the frame's memory, and nowhere else. */
static void test_by_interval(void **state)
{
	struct sampled at = put_thread(6);

	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, 0, 0);
	for (uint64_t fp = STACK; fp < END_OF(STACK, 5); fp += 8) {
		static const char *const views[] = {
			"10000 -- 2000 2001",
			"10000 10108 -- 2000 2001",
			"10000 10108 10208 -- 2000 2001",
			"10000 10108 10208 10308 -- 2000 2001",
			"10000 10108 10208 10308 10408 -- 2000 2001",
			"10000 10108 10208 10308 10408 10508 -- 2000 2001",
		};
		unsigned int frame = (fp - STACK) / SIZE;

		memory_put(ROOT(0) + 16, fp);
		/* the leaf's own pc is kept even where it is the leaf's root */
		ASSERT_ASYNC(&at, views[frame ? frame - 1 : 0]);
	}
	memory_put(ROOT(0) + 16, STACK - 8);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	knobs.faults = FAULT_NO_INTERVAL;
	memory_put(ROOT(0) + 16, END_OF(STACK, 2) - FRAME_BYTES);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

/* Where sp says where a frame begins, it may be as large as it likes; up to where
 * a rule can only be garbage. */
static void test_large_frames(void **state)
{
	static const uint64_t sizes[] = { 0x200,     0x10000,	0x20000,  0x1000000,
					  0x4000000, 0x4000008, 0x5000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct unwind_rule rules[] = { RULE_SP(SIZE), RULE_SP(sizes[i]),
					       RULE_OF(END) };
		bool garbage = sizes[i] > CHECKPOINT_BYTES;
		uint64_t low = END_OF(STACK, 0), end = low + sizes[i];
		struct sampled at;

		world_setup(NULL);
		put_code(rules, 3, 0);
		at = leaf_in_code(0);
		at.roots[0] = ROOT(0);
		put_call(put_call(STACK, SIZE, 1), sizes[i], 2);
		put_task(0, 0x2000, end, 0);
		ASSERT_ASYNC(&at, "10000 -- 2000 2001");
		memory_put(ROOT(0) + 16, low);
		ASSERT_ASYNC(&at, garbage ? "10000 10108 10208" : "10000 -- 2000 2001");
		memory_put(ROOT(0) + 16, end - FRAME_BYTES - 8);
		ASSERT_ASYNC(&at, garbage ? "10000 10108 10208" : "10000 -- 2000 2001");
	}
}

/* The walk breaks at code without a rule: on from the root, by table again. */
static void test_checkpoint(void **state)
{
	struct sampled at = put_thread(6);

	at.pc = BY_FP;
	at.fp = 7;
	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, END_OF(STACK, 3), 0);
	ASSERT_WALK(&at, "UGRCCC", "5000 .. 10408 10508 10608", START);
	ASSERT_ASYNC(&at, "5000 .. -- 2000 2001");
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_ASYNC);
}

/* A root that the frames behind the gap registered is met as well. */
static void test_root_behind_a_checkpoint(void **state)
{
	struct sampled at = put_thread(6);

	at.pc = BY_FP;
	at.fp = 7;
	at.roots[0] = ROOT(0);
	put_task(0, 0, END_OF(STACK, 1), ROOT(1));
	put_task(1, 0x2000, END_OF(STACK, 4) - 0x18, 0);
	ASSERT_WALK(&at, "UGRCCRCCC", "5000 .. 10208 10308 10408 10508 10608", START);
	ASSERT_ASYNC(&at, "5000 .. 10208 10308 -- 2000 2001");
}

static void test_rejoins(void **state)
{
	struct sampled at = put_thread(7);

	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, END_OF(STACK, 2), 0);
	put_chain(CHAIN(0), 2, 0x2000, ROOT(9));
	put_root(ROOT(9), CHAIN(0) + 24, 0, END_OF(STACK, 4) - FRAME_BYTES);
	/* frame 4 waits; that its caller goes on is told by the chain */
	ASSERT_ASYNC(&at, "10000 10108 -- 2000 2001 -- 10608 10708");
}

/* To a thread whose waiting function alone has a frame pointer. */
static void test_crosses(void **state)
{
	struct sampled at = put_thread(8);
	uint64_t waiter = END_OF(OTHER, 1) - FRAME_BYTES;

	put_frames(STACK, 0, 3);
	memory_put(END_OF(STACK, 2) - 8, SITE(8));
	put_frames(OTHER, 3, 5);
	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, END_OF(STACK, 1), 0);
	put_chain(CHAIN(0), 2, 0x2000, ROOT(9));
	put_root(ROOT(9), CHAIN(0) + 24, 0, waiter);
	memory_put(waiter, GARBAGE);
	ASSERT_ASYNC(&at, "10000 -- 2000 2001 -- 10608 10708 10808");
	ASSERT_WALK(&at, "URCCC", "10000 10108 10208 10808", START);
	assert_int_equal(
		SEGMENT_ENDING(segment_of(walker_sample(&at), SEGMENT_THREAD, 0)),
		END_START);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_ASYNC);
	/* a root of that thread, met by table */
	put_task(1, 0x3000, END_OF(OTHER, 4) - 8, 0);
	memory_put(ROOT(9) + 8, ROOT(1));
	ASSERT_ASYNC(&at, "10000 -- 2000 2001 -- 10608 -- 3000 3001");
}

/* The interrupted function may have registered; the kernel's frame has not. */
static void test_around_a_signal(void **state)
{
	uint64_t sp = STACK + 0x400;
	struct sampled at;

	table_begin();
	table_row(FUNCTION(0), RULE_SP(SIZE));
	table_row(FUNCTION(1) - 1, RULE_OF(SIGNAL));
	table_row(FUNCTION(2), RULE_SP(SIZE));
	table_row(FUNCTION(4), RULE_OF(END));
	table_row(FUNCTION(5), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(5), 0, table_end(), 0);
	at = leaf_in_code(0);
	memory_put(END_OF(STACK, 0) - 8, FUNCTION(1));
	put_signal(END_OF(STACK, 0), FUNCTION(2) + 1, sp, GARBAGE);
	put_call(put_call(sp, SIZE, 3), SIZE, 4);
	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, sp + SIZE, 0);
	ASSERT_WALK(&at, "UURUCC", "10000 10100 10201 10308 10408", START);
	ASSERT_ASYNC(&at, "10000 10100 -- 2000 2001");
	put_task(0, 0x2000, sp + 2 * SIZE, 0);
	ASSERT_ASYNC(&at, "10000 10100 10201 -- 2000 2001");
	for (uint64_t in = END_OF(STACK, 0); in < sp; in += 8) {
		memory_put(ROOT(0) + 16, in);
		assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	}
}

/* A switch's frame ends on another stack: only its record is its memory. */
static void test_over_a_switch(void **state)
{
	struct unwind_rule rules[] = { RULE(.cfa = UNWIND_CFA_DEREF_SP,
					    .cfa_offset = 0x10, .deref_offset = 8),
				       RULE_SP(SIZE), RULE_OF(END) };
	static const uint64_t others[] = { 2 * STACK, STACK + 0x1000000,
					   STACK - 0x1000000 };

	for (int i = 0; i < 3; i++) {
		struct sampled at;

		world_setup(NULL);
		put_code(rules, 3, 0);
		at = leaf_in_code(0);
		memory_put(STACK + 8, others[i]);
		memory_put(others[i] + 8, SITE(1));
		put_call(others[i] + 0x10, SIZE, 2);
		at.roots[0] = ROOT(0);
		put_task(0, 0x2000, others[i] + 0x10 + SIZE, 0);
		ASSERT_WALK(&at, "URLC", "10000 10108 10208", START);
		put_task(0, 0x2000, others[i] + 0x10, 0);
		ASSERT_WALK(&at, "URLC", "10000 10108 10208", START);
		memory_put(ROOT(0) + 16, STACK + 0x20);
		if (others[i] > STACK) /* else it is ahead: a checkpoint */
			assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	}
}

/* A fiber's first frame leads to its resumer by frame pointer: where that one's
 * frame begins is not known, and what lies between the stacks is not its. */
static void test_over_a_fibers_start(void **state)
{
	struct unwind_rule rules[] = { RULE_FP, RULE_FP, RULE_SP(SIZE), RULE_OF(END) };
	uint64_t resumer = STACK + 0x100000, record = resumer + 0x80;
	struct sampled at;

	put_code(rules, 4, 0);
	at = leaf_in_code(0);
	at.fp = STACK + 0x10;
	put_frame(at.fp, record, SITE(1));
	put_frame(record, GARBAGE, SITE(2));
	put_call(record + 16, SIZE, 3);
	at.roots[0] = ROOT(0);
	put_task(0, 0x2000, record + 16 + SIZE, 0);
	ASSERT_ASYNC(&at, "10000 10108 -- 2000 2001");
	memory_put(ROOT(0) + 16, STACK + 0x8000);
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
	put_task(0, 0x2000, record + 16, 0);
	ASSERT_ASYNC(&at, "10000 -- 2000 2001");
}

int run_table_root_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_by_interval),
		CASE(test_large_frames),
		CASE(test_checkpoint),
		CASE(test_root_behind_a_checkpoint),
		CASE(test_rejoins),
		CASE(test_crosses),
		CASE(test_around_a_signal),
		CASE(test_over_a_switch),
		CASE(test_over_a_fibers_start),
	};

	return cmocka_run_group_tests_name("roots by table", tests, NULL, NULL);
}
