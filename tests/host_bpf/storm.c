// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memories that nobody meant: words by chance, of the kinds that steer a walk,
 * or a true stack with some of its words struck. Whatever lies there, the walk
 * ends by itself, its record is well built, the same however often it is taken,
 * and says nothing that memory does not. Half of them have unwind tables by
 * chance, of which some are corrupt: those may say anything, and the walk must be
 * bounded and its record well built all the same. STORM_SEED and STORM_MEMORIES repeat
 * and change a run.
 */
#include "storm.h"

#include "codes.h"
#include "core/sample.h"

#include <stdlib.h>
#include <string.h>

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

#define REQUIRE(what, seed)                                                              \
	do {                                                                             \
		if (!(what))                                                             \
			fail_msg("STORM_SEED=%#lx STORM_MEMORIES=1: " #what,             \
				 (unsigned long)(seed));                                 \
	} while (0)

#define RESUMED_BY (VIEW_BOUNDARY | BOUNDARY_FIBER)

static bool crosses(uint64_t word)
{
	return FRAME_KIND(word) == FRAME_RESUMER ||
	       (FRAME_KIND(word) == FRAME_GAP && GAP_ENDING(word) == END_FIBER);
}

/* The thread view is the thread's frames and gaps, all of them, in order; the async view
 * of who has no async caller is the same, and where it crosses to a resumer says so. */
static bool is_thread_view(const struct sample_rec *rec, const uint32_t *out, size_t n,
			   enum view view)
{
	size_t at = 0;

	for (uint32_t i = 0; i < rec->n_kernel + rec->n_thread; i++) {
		unsigned int kind =
			i < rec->n_kernel ? FRAME_KERNEL : FRAME_KIND(rec->words[i]);

		if (kind == FRAME_ROOT)
			continue;
		if (view == VIEW_ASYNC && crosses(rec->words[i]) &&
		    (at >= n || out[at++] != RESUMED_BY))
			return false;
		if (at >= n || out[at++] != (kind == FRAME_GAP ? VIEW_GAP : i))
			return false;
	}
	return at == n || (at + 1 == n && out[at] == VIEW_CUT);
}

static void require_views(const struct sample_rec *rec, uint64_t seed)
{
	static uint32_t codes[CODES_MAX];
	static uint32_t out[VIEW_ROOM(CODES_MAX)];
	size_t n = record_codes(rec, codes);
	struct view_notes notes;
	size_t shown = view_read(&(struct view_stack){ codes, n, NULL }, VIEW_THREAD, out,
				 &notes);

	REQUIRE(is_thread_view(rec, out, shown, VIEW_THREAD), seed);
	shown = view_read(&(struct view_stack){ codes, n, NULL }, VIEW_ASYNC, out,
			  &notes);
	REQUIRE(shown <= VIEW_ROOM(n), seed);
	for (size_t i = 0; i < shown; i++)
		REQUIRE(out[i] & CODE_KIND || out[i] < rec->n_words, seed);
	if (!(rec->flags & SAMPLE_ASYNC))
		REQUIRE(is_thread_view(rec, out, shown, VIEW_ASYNC), seed);
}

static void one_memory(uint64_t seed, struct storm_sum *sum)
{
	bool corrupt;
	struct sampled at = storm_make(seed, &corrupt);
	const struct sample_rec *rec = walker_sample(&at);
	static struct sample_rec first
		[1 + sizeof(uint64_t) * RECORD_WORDS_MAX / sizeof(struct sample_rec) + 1];
	size_t bytes = SAMPLE_HEADER_BYTES + 8 * (size_t)rec->n_words;

	REQUIRE(walker_ended(), seed);
	REQUIRE(rec->n_words < RECORD_WORDS_MAX, seed);
	REQUIRE(!sample_check(rec, bytes), seed);
	if (record_flaw(rec))
		fail_msg("STORM_SEED=%#lx STORM_MEMORIES=1: a record with %s",
			 (unsigned long)seed, record_flaw(rec));
	if (!corrupt && storm_lie(&at, rec))
		fail_msg("STORM_SEED=%#lx STORM_MEMORIES=1: %s", (unsigned long)seed,
			 storm_lie(&at, rec));
	require_views(rec, seed);
	storm_count(sum, rec);

	memcpy(first, rec, bytes);
	walker_forget(seed);
	REQUIRE(!memcmp(first, walker_sample(&at), bytes), seed);
}

static void test_memories(void **state)
{
	uint64_t seed = env_number("STORM_SEED", 0x5eed);
	uint64_t n = env_number("STORM_MEMORIES", 200000);
	struct storm_sum sum = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		memory_clear();
		walker_default_knobs();
		one_memory(seed + i, &sum);
	}
	if (n < 10000)
		return;
	/* a storm that never reaches a branch says nothing about it */
	for (int ending = 0; ending < N_ENDINGS; ending++) {
		if (ending == END_NO_USER || ending == END_FOREIGN || ending == END_TORN)
			continue;
		if (!sum.endings[ending])
			fail_msg("no walk ended with %d", ending);
	}
	assert_true(sum.by_table > n && sum.signals > n / 20);
	assert_true(sum.gaps > n / 100 && sum.roots > n / 2 && sum.chains > n / 4);
}

static uint64_t vanishing;

static void vanish(void)
{
	memory_unmap(vanishing);
}

/* The process goes on meanwhile: a page of chains or stacks is taken away. */
static void test_memories_that_change(void **state)
{
	uint64_t seed = env_number("STORM_SEED", 0x5eed);
	uint64_t n = env_number("STORM_MEMORIES", 200000) / 8;
	struct storm_sum sum = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		uint64_t chance = seed + i;
		const struct sample_rec *rec;
		struct sampled at;
		bool corrupt;

		memory_clear();
		walker_default_knobs();
		at = storm_make(seed + i, &corrupt);
		vanishing = storm_random(&chance) % 4 ? HEAP : STACK;
		memory_before_read(storm_random(&chance) % 40, vanish);
		rec = walker_sample(&at);
		REQUIRE(walker_ended(), seed + i);
		if (record_flaw(rec))
			fail_msg("STORM_SEED=%#lx STORM_MEMORIES=1: a record with %s",
				 (unsigned long)(seed + i), record_flaw(rec));
		require_views(rec, seed + i);
		storm_count(&sum, rec);
	}
	assert_true(n < 10000 || sum.endings[END_TORN] > 10);
}

/* What a tape may hold: the reading ends and stays inside. */
static void test_codes(void **state)
{
	uint64_t seed = env_number("STORM_SEED", 0x5eed);
	uint64_t rounds = env_number("STORM_MEMORIES", 200000) / 2;
	uint64_t chance = seed;

	for (uint64_t i = 0; i < rounds; i++) {
		size_t n = storm_random(&chance) % 40;
		uint32_t *codes = malloc(n * sizeof(*codes) + 1);
		uint32_t *out = malloc(VIEW_ROOM(n) * sizeof(*out));
		struct view_notes notes;

		assert_true(codes && out);
		for (size_t k = 0; k < n; k++)
			codes[k] = storm_code(&chance, n);
		if (n > STACK_HEAD && storm_random(&chance) % 8) {
			codes[STACK_KERNEL] %= 3;
			codes[STACK_THREAD] %= n;
		}
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++)
			REQUIRE(view_read(&(struct view_stack){ codes, n, NULL }, view,
					  out, &notes) <= VIEW_ROOM(n),
				seed);
		free(codes);
		free(out);
	}
}

int run_storm(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_memories),
		CASE(test_memories_that_change),
		CASE(test_codes),
	};

	return cmocka_run_group_tests_name("storm", tests, NULL, NULL);
}
