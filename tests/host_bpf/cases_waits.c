// SPDX-License-Identifier: BSD-2-Clause
/* Chains that a thread waits for: this one, another one, or one just waking. */
#include "world.h"

#include <string.h>

#define ROOT(i)	       (HEAP + 0x40 * (uint64_t)(i))
#define WAIT(i)	       (HEAP + 0x4000 + 0x40 * (uint64_t)(i))
#define CHAIN(i)       (HEAP + 0x10000 + 0x4000 * (uint64_t)(i))
#define LAST(chain, n) ((chain) + 24 * ((n)-1ULL))

/*
 * Chain i of two frames at ip, run by root i in frame `frame` of a stack, and
 * waited for by frame `waiter` of another.
 */
static void put_waited(int i, uint64_t ip, uint64_t fp, uint64_t waiter_fp, uint64_t next)
{
	put_root(ROOT(i), CHAIN(i), 0, fp);
	put_chain(CHAIN(i), 2, ip, WAIT(i));
	put_root(WAIT(i), LAST(CHAIN(i), 2), next, waiter_fp);
}

static struct sampled put_rejoining(void)
{
	put_stack(STACK, 8, 0x1000);
	put_waited(0, 0x2000, FP(STACK, 2), FP(STACK, 5), 0);
	return leaf_in_root(0x1000, ROOT(0));
}

static struct sampled put_crossing(void)
{
	put_stack(STACK, 6, 0x1000);
	put_stack(OTHER, 6, 0x4000);
	put_waited(0, 0x2000, FP(STACK, 2), FP(OTHER, 1), 0);
	return leaf_in_root(0x1000, ROOT(0));
}

static enum ending ending_of(const struct sampled *at, enum segment_kind kind,
			     unsigned int nth)
{
	return SEGMENT_ENDING(segment_of(walker_sample(at), kind, nth));
}

static void test_rejoins_its_own_thread(void **state)
{
	struct sampled at = put_rejoining();
	uint64_t segment;

	/* frame 5 waits; that its caller, 1006, goes on is told by the chain */
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 1007 1008");
	segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, 0);
	assert_int_equal(SEGMENT_ENDING(segment), END_REJOINED);
	assert_int_equal(SEGMENT_TARGET(segment), 7); /* 6 frames and a root before */
	at.n_kernel = 9;
	segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, 0);
	assert_int_equal(SEGMENT_TARGET(segment), 7);
	ASSERT_THREAD(&at, "ffffffff81000000 ffffffff81000001 ffffffff81000002 "
			   "ffffffff81000003 ffffffff81000004 ffffffff81000005 "
			   "ffffffff81000006 ffffffff81000007 ffffffff81000008 "
			   "1000 1001 1002 1003 1004 1005 1006 1007 1008");
}

/* An outer root between the waiting frame and the thread's start. */
static void test_rejoins_below_another_root(void **state)
{
	struct sampled at = put_rejoining();

	memory_put(ROOT(0) + 8, ROOT(1));
	put_root(ROOT(1), CHAIN(1), 0, FP(STACK, 7));
	put_chain(CHAIN(1), 1, 0x3000, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 3000");
	memory_put(ROOT(1), 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 1007 1008");
}

/* The waiting frame's caller, told by the chain, is the one that is missing. */
static void test_rejoins_at_a_gap(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));

	put_stack(STACK, 6, 0x1000);
	put_waited(0, 0x2000, FP(STACK, 1), FP(STACK, 2), 0);
	memory_put(ROOT(0) + 8, ROOT(1));
	put_root(ROOT(1), 0, 0, FP(STACK, 4));
	memory_put(FP(STACK, 2) + 8, 0);
	ASSERT_THREAD(&at, "1000 1001 1002 .. 1005 1006");
	ASSERT_ASYNC(&at, "1000 -- 2000 2001 -- .. 1005 1006");
}

/* Who registered the waiting root has returned; it lies in the waiter's frame. */
static void test_waits_for_somebody_else(void **state)
{
	struct sampled at = put_rejoining();
	uint64_t held = FP(STACK, 4) + FRAME_BYTES;

	memory_put(LAST(CHAIN(0), 2) + 16, held);
	put_root(held, LAST(CHAIN(0), 2), 0, FP(STACK, 4));
	memory_put(held + 24, 0x1777);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 1007 1008");

	/* on another stack nothing says where the waiter's frame ends */
	at = put_crossing();
	held = FP(OTHER, 1) + FRAME_BYTES;
	memory_put(LAST(CHAIN(0), 2) + 16, held);
	put_root(held, LAST(CHAIN(0), 2), 0, FP(OTHER, 1));
	memory_put(held + 24, 0x4002);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 4003 4004 4005 4006");
	memory_put(held + 24, 0x4777);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
}

static void test_stale(void **state)
{
	static const uint64_t tops[] = { 0, CHAIN(0), 0x999 };
	struct sampled at = put_rejoining();

	for (int i = 0; i < 3; i++) {
		memory_put(WAIT(0), tops[i]);
		ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
		assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 0), END_STALE);
	}
	memory_put(LAST(CHAIN(0), 2) + 16, 0x123456789000);
	assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 0), END_STALE);
	memory_put(LAST(CHAIN(0), 2) + 16, WAIT(0) + 4);
	assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 0), END_DETACHED);
}

static void test_crosses(void **state)
{
	struct sampled at = put_crossing();

	/* frame 1 of the other stack waits: 4002 is told, 4003 is its caller */
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 4003 4004 4005 4006");
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004 1005 1006");
	assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 0), END_CROSSED);
	assert_int_equal(ending_of(&at, SEGMENT_THREAD, 0), END_FP_ZERO);
	at.fp = 0; /* not a caller is known but by the crossing */
	memory_put(ROOT(0) + 16, STACK);
	ASSERT_ASYNC(&at, "1000 .. -- 2000 2001 -- 4003 4004 4005 4006");
}

static void test_crossing_that_breaks(void **state)
{
	struct sampled at = put_crossing();

	memory_put(FP(OTHER, 3), 7);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 4003 4004 cut");
	assert_int_equal(ending_of(&at, SEGMENT_THREAD, 0), END_BROKEN);
	memory_put(FP(OTHER, 3), FP(OTHER, 2));
	assert_int_equal(ending_of(&at, SEGMENT_THREAD, 0), END_CYCLE);
	memory_put(FP(OTHER, 3), 0x123456789000);
	assert_int_equal(ending_of(&at, SEGMENT_THREAD, 0), END_UNREADABLE);
	memory_unmap(OTHER);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
	assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 0), END_UNREADABLE);
}

static void test_crossing_with_a_gap(void **state)
{
	struct sampled at = put_crossing();

	memory_put(FP(OTHER, 2), 0);
	memory_put(WAIT(0) + 8, ROOT(1));
	put_root(ROOT(1), 0, 0, FP(OTHER, 4));
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 4003 .. 4005 4006");
}

/* The waiting thread is itself run by a root, whose chain a third one awaits. */
static void test_crosses_twice(void **state)
{
	struct sampled at = put_crossing();

	memory_put(WAIT(0) + 8, ROOT(1));
	put_waited(1, 0x3000, FP(OTHER, 4), FP(THIRD, 0), 0);
	put_stack(THIRD, 3, 0x5000);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 4003 -- 3000 3001 -- 5002 5003");
	assert_int_equal(ending_of(&at, SEGMENT_THREAD, 1), END_FP_ZERO);
}

/* By the waiting function's caller, a dispatcher: its root comes before it, so the view
 * leaves it out. */
static void test_first_frame_of_another_thread_runs_a_root(void **state)
{
	struct sampled at = put_crossing();
	const struct sample_rec *rec;
	unsigned int i;

	memory_put(WAIT(0) + 8, ROOT(1));
	put_root(ROOT(1), CHAIN(1), 0, FP(OTHER, 2));
	put_chain(CHAIN(1), 2, 0x3000, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 -- 3000 3001");
	rec = walker_sample(&at);
	for (i = rec->n_thread; i + 2 < rec->n_words; i++)
		if (FRAME_KIND(rec->words[i]) == FRAME_SEGMENT &&
		    SEGMENT_KIND(rec->words[i]) == SEGMENT_THREAD)
			break;
	assert_int_equal(FRAME_KIND(rec->words[i + 1]), FRAME_ROOT);
	assert_int_equal(FRAME_KIND(rec->words[i + 2]), FRAME_CALLER);
}

/* The other thread waits once more, further up, for the chain that waited: its stack
 * leads to the same root both times. */
static void test_crosses_to_one_thread_twice(void **state)
{
	struct sampled at = put_crossing();

	memory_put(WAIT(0) + 8, ROOT(1));
	put_waited(1, 0x3000, FP(OTHER, 2), FP(OTHER, 3), ROOT(2));
	put_root(ROOT(2), CHAIN(2), 0, FP(OTHER, 5));
	put_chain(CHAIN(2), 2, 0x5000, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 -- 3000 3001 -- 5000 5001");
	memory_put(ROOT(1) + 8, ROOT(2)); /* who knows the lists of both has both */
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 -- 3000 3001 -- 5000 5001");
	memory_put(ROOT(2) + 8, ROOT(2)); /* goes round */
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 -- 3000 3001 -- 5000 5001");
	memory_put(ROOT(2) + 8, ROOT(1));
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 -- 3000 3001 -- 5000 5001");
	assert_true(walker_ended());
}

static void test_two_threads_wait_for_each_other(void **state)
{
	struct sampled at = put_crossing();

	memory_put(WAIT(0) + 8, ROOT(1));
	put_waited(1, 0x3000, FP(OTHER, 3), FP(STACK, 4), 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 3000 3001 -- 1006");
	assert_int_equal(ending_of(&at, SEGMENT_CHAIN, 1), END_REJOINED);
	/* and back to a place before the root it came from: each chain once */
	memory_put(WAIT(1) + 16, FP(STACK, 0));
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 3000 3001 -- "
			  "1002 1003 1004 1005 1006");
	/* a ring of two others */
	put_stack(THIRD, 3, 0x5000);
	memory_put(WAIT(1) + 16, FP(THIRD, 0));
	memory_put(WAIT(1) + 8, ROOT(2));
	put_waited(2, 0x6000, FP(THIRD, 2), FP(OTHER, 1), ROOT(1));
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 -- 3000 3001 -- "
			  "6000 6001 -- 4003 4004 4005 4006");
	assert_true(walker_ended());
}

static void wake(void)
{
	memory_put(WAIT(0), 0);
}

/* The waiting thread wakes between any two reads: never a whole stack then. */
static void test_torn(void **state)
{
	struct sampled at;
	unsigned int reads, seen_torn = 0, seen_stale = 0;

	at = put_crossing();
	walker_sample(&at);
	reads = memory_reads();
	for (unsigned int nth = 0; nth < reads; nth++) {
		const struct sample_rec *rec;
		enum ending ending;

		world_setup(NULL);
		put_crossing();
		memory_before_read(nth, wake);
		rec = walker_sample(&at);
		ending = SEGMENT_ENDING(segment_of(rec, SEGMENT_CHAIN, 0));
		seen_stale += ending == END_STALE;
		if (ending == END_STALE)
			continue;
		assert_int_equal(ending, END_CROSSED);
		assert_int_equal(SEGMENT_ENDING(segment_of(rec, SEGMENT_THREAD, 0)),
				 END_TORN);
		seen_torn++;
	}
	assert_true(seen_torn >= 3 && seen_stale >= 3);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
}

static void test_torn_shows_as_cut(void **state)
{
	struct sampled at = put_crossing();

	walker_sample(&at);
	memory_before_read(2 * memory_reads() - 1, wake);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
}

/* Past word 1,024 a waiting thread's frames must not pass for the thread's. */
static void test_rejoins_behind_a_long_record(void **state)
{
	struct sampled at = leaf_in_root(0x1000, ROOT(0));
	uint64_t segment;

	put_stack(STACK, 512, 0x1000);
	put_stack(OTHER, 509, 0x4000);
	put_waited(0, 0x2000, FP(STACK, 4), FP(OTHER, 0), 0);
	memory_put(ROOT(0) + 8, ROOT(1));
	put_waited(1, 0x3000, FP(STACK, 6), FP(STACK, 1), 0);
	segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, 1);
	assert_true(walker_sample(&at)->n_words > RECORD_WORDS_MAX / 2);
	assert_int_equal(SEGMENT_ENDING(segment), END_REJOINED);
	assert_int_equal(SEGMENT_TARGET(segment), 2);
}

/* What other keys left on this thread is told, whoever waits. */
static void test_unmatched_before_a_crossing(void **state)
{
	struct sampled at = put_crossing();

	at.roots[1] = ROOT(7);
	put_root(ROOT(7), 0, 0, STACK - 0x1000);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
}

/* Where a thread waits is told by the ABI, not by a frame pointer at a venture. */
static void test_proof_of_a_crossing(void **state)
{
	struct sampled at = put_crossing();

	at.fp = 0;
	memory_put(ROOT(0) + 16, STACK);
	put_frame(STACK, 0, 0);
	put_frame(FP(OTHER, 1), 0, 0x4002);
	ASSERT_ASYNC(&at, "1000 .. -- 2000 2001");
	assert_false(walker_sample(&at)->flags & SAMPLE_UNPROVEN);
}

#define LONG_ROOT(i)  (HEAP + 0x40 * (uint64_t)(i))
#define LONG_WAIT(i)  (HEAP + 0x4000 + 0x40 * (uint64_t)(i))
#define LONG_MORE(i)  (HEAP + 0x8000 + 0x40 * (uint64_t)(i))
#define LONG_NODE(i)  (HEAP + 0x10000 + 0x40 * (uint64_t)(i))
#define LONG_CHAIN(i) (HEAP + 0x20000 + 0x40 * (uint64_t)(i))

/* The i-th waiter: its stack holds a root that lies behind a gap. */
static void put_long_wait(int i, uint64_t last)
{
	uint64_t fp = i ? OTHER + 0x100 * (uint64_t)i : THIRD;

	put_frame(fp, 0, 0x9000 + (uint64_t)i);
	put_root(LONG_WAIT(i), last, i ? LONG_MORE(i) : LONG_ROOT(1), fp);
	if (!i)
		return;
	put_root(LONG_MORE(i), 0, 0, fp + 0x80);
	put_frame(fp + 0x80, 0, 0);
	put_root(LONG_ROOT(i), LONG_NODE(i), i < MAX_ROOTS - 1 ? LONG_ROOT(i + 1) : 0,
		 THIRD + 0x40 * (uint64_t)i);
	put_frame(THIRD + 0x40 * (uint64_t)i, 0, 0);
}

/*
 * All that no budget counts at once: a full kernel stack, a thread of as many frames as
 * there may be, and behind its only root 64 chains that each cross to a stack with one
 * root too many; the last has all frames that are left. It fits, and holds together.
 */
static void test_the_longest_record(void **state)
{
	struct sampled at = { .pc = 0x1000, .sp = STACK, .n_kernel = KERNEL_FRAMES_MAX };
	const struct sample_rec *rec;
	uint64_t last = LONG_CHAIN(RECORD_WORDS_MAX);

	knobs.max_frames = FRAMES_MAX;
	at.roots[0] = LONG_ROOT(0);
	put_root(LONG_ROOT(0), LONG_NODE(0), 0, STACK + 0x40);
	put_frame(STACK + 0x40, STACK + 0x10000, 0x5000);
	for (uint64_t i = 0; i < FRAMES_MAX - 1; i++)
		put_frame(STACK + 0x10000 + 0x20 * i,
			  i + 2 < FRAMES_MAX ? STACK + 0x10000 + 0x20 * (i + 1) : 0,
			  0x5001 + i);
	for (int i = 0; i < MAX_ROOTS; i++) {
		bool longest = i == MAX_ROOTS - 1;

		put_node(LONG_NODE(i), longest ? LONG_CHAIN(0) : 0, 0x6000,
			 longest ? 0 : LONG_WAIT(i));
		put_long_wait(i, longest ? last : LONG_NODE(i));
	}
	for (uint64_t i = 0; i <= RECORD_WORDS_MAX; i++)
		put_node(LONG_CHAIN(i), i < RECORD_WORDS_MAX ? LONG_CHAIN(i + 1) : 0,
			 0x7000 + i, i < RECORD_WORDS_MAX ? 0 : LONG_WAIT(MAX_ROOTS - 1));
	rec = walker_sample(&at);
	assert_true(walker_ended());
	assert_true(rec->flags & SAMPLE_ROOTS_CUT);
	assert_in_range(rec->n_words, RECORD_WORDS_MAX - 3 * MAX_ROOTS,
			RECORD_WORDS_MAX - 1);
	assert_null(record_flaw(rec));
	assert_int_equal(rec->words[0] >> FRAME_KIND_SHIFT, FRAME_KERNEL);
}

int run_wait_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_the_longest_record),
		CASE(test_rejoins_its_own_thread),
		CASE(test_rejoins_below_another_root),
		CASE(test_rejoins_at_a_gap),
		CASE(test_waits_for_somebody_else),
		CASE(test_stale),
		CASE(test_crosses),
		CASE(test_crossing_that_breaks),
		CASE(test_crossing_with_a_gap),
		CASE(test_crosses_twice),
		CASE(test_crosses_to_one_thread_twice),
		CASE(test_first_frame_of_another_thread_runs_a_root),
		CASE(test_two_threads_wait_for_each_other),
		CASE(test_torn),
		CASE(test_torn_shows_as_cut),
		CASE(test_rejoins_behind_a_long_record),
		CASE(test_unmatched_before_a_crossing),
		CASE(test_proof_of_a_crossing),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
