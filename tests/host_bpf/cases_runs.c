// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs of frames that keep frame pointers, which are walked in a loop of their own
 * (records.bpf.c). Who has two keys is walked frame by frame: both must say the same.
 */
#include "code.h"

#include <string.h>

#define FRAMES 40
#define FAR    0x100000000 /* no walk is taken up from a root there */

static struct sampled at;

static void put_run(void)
{
	put_like_code(RULE_FP, 4, UNWIND_KEEPS_FP);
	for (unsigned int i = 0; i < FRAMES; i++)
		put_frame(FP(STACK, i), i + 1 < FRAMES ? FP(STACK, i + 1) : 0,
			  SITE(1 + i % 3));
	at = leaf_in_code(0x20);
	at.fp = FP(STACK, 0);
}

static void put_far_roots(void)
{
	put_root(HEAP, 0, 0, FAR);
	put_root(HEAP + 64, 0, 0, 2ULL * FAR);
	at.roots[0] = HEAP;
	at.roots[1] = HEAP + 64;
}

/* The same, frame by frame. */
static void assert_same_by_frames(enum ending ending)
{
	static uint64_t words[RECORD_WORDS_MAX];
	const struct sample_rec *rec = walker_sample(&at);
	uint32_t n = rec->n_thread;

	assert_int_equal(rec->ending, ending);
	memcpy(words, rec->words, n * sizeof(*words));
	put_far_roots();
	rec = walker_sample(&at);
	assert_int_equal(rec->ending, ending);
	assert_int_equal(rec->n_thread, n);
	assert_memory_equal(rec->words, words, n * sizeof(*words));
	at.roots[0] = at.roots[1] = 0;
}

static void test_run(void **state)
{
	const struct sample_rec *rec;

	put_run();
	rec = walker_sample(&at);
	assert_int_equal(rec->n_thread, FRAMES + 1);
	assert_int_equal(rec->ending, END_START);
	for (unsigned int i = 1; i <= FRAMES; i++)
		assert_int_equal(rec->words[i],
				 (uint64_t)FRAME_CALLER << FRAME_KIND_SHIFT |
					 SITE(1 + (i - 1) % 3));
	assert_same_by_frames(END_START);
}

/* Wherever in a run the frame is that registered it, its mark is before that frame. */
static void test_root_in_a_run(void **state)
{
	const struct sample_rec *rec;

	put_run();
	at.roots[0] = HEAP;
	for (unsigned int i = 1; i < FRAMES; i++) {
		put_root(HEAP, 0, 0, FP(STACK, i));
		rec = walker_sample(&at);
		assert_int_equal(rec->n_thread, FRAMES + 2);
		assert_int_equal(FRAME_KIND(rec->words[i]), FRAME_ROOT);
		assert_int_equal(FRAME_ADDR(rec->words[i + 1]), SITE(1 + (i - 1) % 3));
		assert_false(rec->flags & SAMPLE_UNMATCHED);
	}
}

/* A chain goes on in the frame of a run in whose memory it waits. */
static void test_chain_into_a_run(void **state)
{
	put_run();
	at.roots[0] = HEAP;
	put_root(HEAP, HEAP + 0x100, 0, FP(STACK, 2));
	for (unsigned int i = 4; i < FRAMES; i++) {
		const struct sample_rec *rec;
		uint64_t segment;

		put_node(HEAP + 0x100, 0, 0x5000, HEAP + 0x200);
		put_root(HEAP + 0x200, HEAP + 0x100, 0, FP(STACK, i));
		rec = walker_sample(&at);
		segment = segment_of(rec, SEGMENT_CHAIN, 0);
		assert_int_equal(SEGMENT_ENDING(segment), END_REJOINED);
		assert_int_equal(SEGMENT_TARGET(segment), i + 2);
	}
}

static void test_budget_in_a_run(void **state)
{
	for (unsigned int frames = FRAMES_MIN; frames < FRAMES; frames++) {
		put_run();
		knobs.max_frames = frames;
		assert_same_by_frames(END_BUDGET);
	}
}

/* A record may lead back to any frame. */
static void test_cycle_of_runs(void **state)
{
	for (unsigned int i = 1; i < FRAMES; i++) {
		put_run();
		put_frame(FP(STACK, FRAMES - 1), FP(STACK, i), SITE(1));
		assert_same_by_frames(END_CYCLE);
	}
}

/* Memory between two stacks is neither's: a root there is nobody's. */
static void test_run_over_two_stacks(void **state)
{
	uint64_t other = STACK + 4 * SAME_STACK_BYTES;

	for (unsigned int i = 1; i < FRAMES; i++) {
		put_run();
		put_frame(FP(STACK, i), other, SITE(2));
		put_frame(other, other + 0x40, SITE(3));
		put_frame(other + 0x40, 0, SITE(1));
		assert_same_by_frames(END_START);
		put_root(HEAP, 0, 0, other - 0x1000);
		at.roots[0] = HEAP;
		assert_true(walker_sample(&at)->flags & SAMPLE_UNMATCHED);
		if (i < 4)
			continue;
		put_root(HEAP, HEAP + 0x100, 0, FP(STACK, 2));
		put_node(HEAP + 0x100, 0, 0x5000, HEAP + 0x200);
		put_root(HEAP + 0x200, HEAP + 0x100, 0, other - 0x1000);
		assert_int_not_equal(
			SEGMENT_ENDING(segment_of(walker_sample(&at), SEGMENT_CHAIN, 0)),
			END_REJOINED);
	}
}

/* What the run does not hold is as it was without. */
static void test_end_of_a_run(void **state)
{
	for (unsigned int i = 1; i < FRAMES; i++) {
		put_run();
		put_frame(FP(STACK, i), FP(STACK, i + 1) + 4, SITE(2));
		assert_same_by_frames(END_BROKEN);
		put_run();
		put_frame(FP(STACK, i), FP(STACK, i + 1), 1);
		assert_same_by_frames(END_BROKEN);
		put_run();
		put_frame(FP(STACK, i), 0x7ff000000000, SITE(2));
		assert_same_by_frames(END_UNREADABLE);
	}
}

int run_run_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_run),
		CASE(test_root_in_a_run),
		CASE(test_chain_into_a_run),
		CASE(test_budget_in_a_run),
		CASE(test_cycle_of_runs),
		CASE(test_run_over_two_stacks),
		CASE(test_end_of_a_run),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
