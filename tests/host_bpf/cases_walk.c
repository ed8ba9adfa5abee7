// SPDX-License-Identifier: BSD-2-Clause
/* Down a thread's stack without roots: how walks end, and what a step trusts. */
#include "world.h"

static void assert_ends(const struct sampled *at, enum ending ending)
{
	assert_int_equal(walker_sample(at)->ending, ending);
	assert_true(walker_ended());
}

static void test_plain(void **state)
{
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 4, 0x1000);
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004");
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004");
	assert_ends(&at, END_FP_ZERO);
	assert_true(walker_sample(&at)->flags & SAMPLE_UNPROVEN);
}

/* As clang leaves them where Swift's functions keep a context: in the register at once,
 * and then in memory. */
static void test_marked_frame_pointers(void **state)
{
	const uint64_t mark = 1ULL << 60;
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 4, 0x1000);
	put_frame(FP(STACK, 1), FP(STACK, 2) | mark, 0x1002);
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004");
	at.fp |= mark;
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004");
	ASSERT_ASYNC(&at, "1000 1001 1002 1003 1004");
}

static void test_leaf_without_frame(void **state)
{
	struct sampled at = { .pc = 0x1000, .sp = STACK };

	/* a register that is 0 is no start */
	ASSERT_THREAD(&at, "1000 cut");
	assert_ends(&at, END_BROKEN);
	assert_int_equal(walker_sample(&at)->flags, 0);
}

static void test_no_return_address(void **state)
{
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 2, 0x1000);
	put_frame(FP(STACK, 1), FP(STACK, 2), 0);
	ASSERT_THREAD(&at, "1000 1001");
	assert_ends(&at, END_FP_ZERO);
}

static void test_behind_kernel_frames(void **state)
{
	struct sampled at = leaf_at(0x1000);
	const struct sample_rec *rec;

	at.n_kernel = KERNEL_FRAMES_MAX;
	put_stack(STACK, 300, 0x1000);
	rec = walker_sample(&at);
	assert_int_equal(rec->n_kernel, KERNEL_FRAMES_MAX);
	assert_int_equal(rec->n_thread, 301);
	assert_int_equal(rec->n_words, KERNEL_FRAMES_MAX + 301);
	assert_int_equal(FRAME_ADDR(rec->words[rec->n_words - 1]), 0x1000 + 300);
}

static void test_budget(void **state)
{
	static const unsigned int depths[] = { 16, 17, 63, 64, 65, 127, 511, 512 };
	struct sampled at = leaf_at(0x1000);

	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
		unsigned int n = depths[i];

		world_setup(NULL);
		knobs.max_frames = n;
		put_stack(STACK, n, 0x1000);
		assert_ends(&at, END_FP_ZERO);
		assert_int_equal(walker_sample(&at)->n_thread, n + 1);
		put_stack(STACK, n + 1, 0x1000);
		assert_ends(&at, END_BUDGET);
		assert_int_equal(walker_sample(&at)->n_thread, n + 1);
		put_stack(STACK, 5 * n, 0x1000);
		assert_ends(&at, END_BUDGET);
	}
}

static void test_budget_shows(void **state)
{
	struct sampled at = leaf_at(0x1000);

	knobs.max_frames = 3;
	put_stack(STACK, 9, 0x1000);
	ASSERT_THREAD(&at, "1000 1001 1002 1003 cut");
}

/* A chunk ends with its page, so the frames before the hole are there. */
static void test_unreadable(void **state)
{
	struct sampled at = leaf_at(0x1000);

	put_stack(STACK, 200, 0x1000);
	memory_unmap(STACK + MEMORY_PAGE);
	assert_ends(&at, END_UNREADABLE);
	assert_int_equal(walker_sample(&at)->n_thread, 1 + MEMORY_PAGE / FRAME_SIZE);
	memory_unmap(STACK);
	ASSERT_THREAD(&at, "1000 cut");
	assert_ends(&at, END_UNREADABLE);
}

static void test_record_across_pages(void **state)
{
	uint64_t edge = STACK + MEMORY_PAGE - 8;
	struct sampled at = { .pc = 0x1000, .sp = STACK, .fp = edge };

	put_frame(edge, FP(STACK, 100), 0x1001);
	put_frame(FP(STACK, 100), 0, 0x1002);
	ASSERT_THREAD(&at, "1000 1001 1002");
	memory_unmap(STACK + MEMORY_PAGE);
	ASSERT_THREAD(&at, "1000 cut");
}

static void test_broken(void **state)
{
	static const uint64_t bad[] = {
		FP(STACK, 5) + 1, FP(STACK, 5) + 4,   8, 4088, 1ULL << 56,
		~0ULL - 7,	  0xffffffff81000000,
	};
	struct sampled at = leaf_at(0x1000);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_stack(STACK, 8, 0x1000);
		put_frame(FP(STACK, 1), bad[i], 0x1002);
		ASSERT_THREAD(&at, "1000 1001 1002 cut");
		assert_ends(&at, END_BROKEN);
	}
	put_frame(FP(STACK, 1), FP(STACK, 2), 0xff00000000001002);
	ASSERT_THREAD(&at, "1000 1001 cut");
	assert_ends(&at, END_BROKEN);
}

static void test_tags_are_taken_off(void **state)
{
	struct sampled at = leaf_at(0xb400000000001000);

	knobs.addr_mask = (1ULL << 48) - 1;
	at.fp |= 0xb4ULL << 56;
	put_stack(STACK, 3, 0x1000);
	put_frame(FP(STACK, 0), FP(STACK, 1) | 0xb4ULL << 56, 0x2a000000001001);
	ASSERT_THREAD(&at, "1000 1001 1002 1003");
}

static void test_cycles(void **state)
{
	for (unsigned int length = 1; length <= 200; length++) {
		struct sampled at = leaf_at(0x1000);
		const struct sample_rec *rec;

		world_setup(NULL);
		put_stack(STACK, length + 5, 0x1000);
		put_frame(FP(STACK, length + 4), FP(STACK, 5), 0x1000 + length + 5);
		rec = walker_sample(&at);
		assert_int_equal(rec->ending, END_CYCLE);
		assert_true(rec->n_thread >= length + 5);
		/* Brent: found within three times of what there is to see */
		assert_true(rec->n_thread <= 3 * (length + 5) + 16);
	}
}

/* Each frame where the last one was not: below, above, near, far. */
static void test_any_order_of_addresses(void **state)
{
	static const int64_t jumps[] = {
		0x40,  -0x20, -16,     -0x40, 1008,	-1024,	   2000,
		-3000, 1040,  0x20000, -16,   -0x30010, 0x7fffff0, -0x7000000,
		16,    -32,   1000,    -16,   48,	-64,
	};
	enum { N = sizeof(jumps) / sizeof(*jumps) };
	struct sampled at = leaf_at(0x1000);
	uint64_t fp = at.fp;
	char text[20 * N], *p = text;

	p += sprintf(p, "1000");
	for (int i = 0; i < N; i++) {
		put_frame(fp, i + 1 < N ? fp + jumps[i] : 0, 0x1001 + i);
		fp += jumps[i];
		p += sprintf(p, " %x", 0x1001 + i);
	}
	ASSERT_THREAD(&at, text);
}

static unsigned int reads_of_steps(uint64_t bytes)
{
	struct sampled at = leaf_at(0x1000);
	uint64_t fp = FP(STACK, 0);

	memory_clear();
	for (int i = 0; i < 100; i++, fp += bytes)
		put_frame(fp, i < 99 ? fp + bytes : 0, 0x1001 + i);
	assert_int_equal(walker_sample(&at)->n_thread, 101);
	return memory_reads();
}

/* Four small frames on each of 25 stacks. */
static unsigned int reads_of_stacks(uint64_t apart)
{
	struct sampled at = leaf_at(0x1000);

	memory_clear();
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t fp = FP(STACK, 0) + i / 4 * apart + i % 4 * 64;

		put_frame(fp,
			  i == 99      ? 0
			  : i % 4 == 3 ? fp - 3 * 64 + apart
				       : fp + 64,
			  0x1001 + i);
	}
	assert_int_equal(walker_sample(&at)->n_thread, 101);
	return memory_reads();
}

/* One read a KiB where steps are short, one a page where they are longer, and
 * one a frame where nothing else would be in it. */
static void test_reads_follow_the_steps(void **state)
{
	assert_in_range(reads_of_steps(64), 6400 / SHORT_CHUNK_BYTES,
			6400 / SHORT_CHUNK_BYTES + 4);
	assert_in_range(reads_of_steps(1040), 104000 / CHUNK_BYTES,
			2 * (104000 / CHUNK_BYTES));
	assert_in_range(reads_of_steps(2064), 100, 100);
	/* how far apart stacks are is no step of either */
	assert_in_range(reads_of_stacks(0x100000), 25, 25);
	assert_in_range(reads_of_stacks(-0x100000), 25, 25);
}

int run_walk_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_plain),
		CASE(test_marked_frame_pointers),
		CASE(test_leaf_without_frame),
		CASE(test_no_return_address),
		CASE(test_behind_kernel_frames),
		CASE(test_budget),
		CASE(test_budget_shows),
		CASE(test_unreadable),
		CASE(test_record_across_pages),
		CASE(test_broken),
		CASE(test_tags_are_taken_off),
		CASE(test_cycles),
		CASE(test_any_order_of_addresses),
		CASE(test_reads_follow_the_steps),
	};

	return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
