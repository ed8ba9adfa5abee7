// SPDX-License-Identifier: BSD-2-Clause
/* Along a chain: its lengths, its ends, and garbage in its place. */
#include "world.h"

#include <string.h>

#define ROOT	HEAP
#define CHAIN	(HEAP + 0x10000)
#define NODE(i) (CHAIN + 24 * (uint64_t)(i))

static struct sampled put_world(unsigned int n)
{
	put_stack(STACK, 4, 0x1000);
	put_root(ROOT, CHAIN, 0, FP(STACK, 2));
	put_chain(CHAIN, n, 0x2000, 0);
	return leaf_in_root(0x1000, ROOT);
}

static enum ending chain_ending(const struct sampled *at)
{
	return SEGMENT_ENDING(segment_of(walker_sample(at), SEGMENT_CHAIN, 0));
}

static void test_lengths(void **state)
{
	static const unsigned int lengths[] = { 1, 7, 8, 9, 10, 60, 400, 512 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		unsigned int n = lengths[i];
		struct sampled at;
		char *text = malloc(20 + 5 * n), *p = text;

		world_setup(NULL);
		at = put_world(n);
		p += sprintf(p, "1000 1001 --");
		for (unsigned int k = 0; k < n; k++)
			p += sprintf(p, " %x", 0x2000 + k);
		ASSERT_ASYNC(&at, text);
		ASSERT_THREAD(&at, "1000 1001 1002 1003 1004");
		assert_int_equal(chain_ending(&at), END_DETACHED);
		free(text);
	}
}

/* n nodes, each caller so many bytes behind or before what it called; the reads. */
static unsigned int reads_of_chain(unsigned int n, int64_t step, uint64_t from)
{
	struct sampled at = put_world(1);
	char text[1024], *p = text;

	p += sprintf(p, "1000 1001 --");
	memory_put(ROOT, from);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t addr = from + (uint64_t)step * i;

		put_node(addr, i + 1 < n ? addr + (uint64_t)step : 0, 0x2000 + i, 0);
		p += sprintf(p, " %x", 0x2000 + i);
	}
	ASSERT_ASYNC(&at, text);
	walker_sample(&at);
	return memory_reads();
}

/* What lies side by side is read together, whichever way it goes; not what is far. */
static void test_reads_ahead(void **state)
{
	unsigned int apart = reads_of_chain(100, 0x2010, CHAIN), side;
	static const int64_t steps[] = { 24, 272, 1024, -24, -272, -1024 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		world_setup(NULL);
		side = reads_of_chain(100, steps[i], CHAIN + 0x20000);
		assert_in_range(side, 1, apart - (i % 3 == 2 ? 25 : 70));
	}
	world_setup(NULL);
	assert_int_equal(reads_of_chain(100, -0x2010, CHAIN + 0x200000), apart);
}

/* Five roots, each with a chain of nine nodes on the heap and a wait elsewhere. */
static struct sampled put_waits(void)
{
	uint64_t node = CHAIN + 0x20000;

	put_stack(STACK, 14, 0x1000);
	for (unsigned int k = 0; k < 5; k++) {
		uint64_t root = ROOT + 0x1000 * k, wait = OTHER + 0x1000 * k;

		put_root(root, node, k < 4 ? root + 0x1000 : 0, FP(STACK, 2 + 2 * k));
		for (unsigned int i = 0; i < 9; i++, node -= 272)
			put_node(node, i < 8 ? node - 272 : wait, 0x2000 + i, 0);
		put_node(wait, 0, 0x3000, wait + 24);
		put_root(wait + 24, wait, 0, FP(STACK, 3 + 2 * k));
	}
	return leaf_in_root(0x1000, ROOT);
}

static unsigned int reads_of(const struct sampled *at)
{
	unsigned int before = memory_reads();

	walker_sample(at);
	return memory_reads() - before;
}

/* A wait is read beside what was read of a chain: the next chain goes on from there. */
static void test_reads_ahead_beside_waits(void **state)
{
	struct sampled at = put_waits();
	unsigned int reads;

	for (unsigned int k = 0; k < 5; k++) {
		uint64_t segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, k);

		assert_int_equal(SEGMENT_ENDING(segment), END_REJOINED);
		assert_int_equal(SEGMENT_COUNT(segment), 10);
	}
	reads = reads_of(&at);
	for (unsigned int k = 0; k < 5; k++)
		memory_put(ROOT + 0x1000 * k, 0);
	assert_in_range(reads - reads_of(&at), 5 + 1 + 12240 / CHUNK_BYTES, 11);
}

static void test_budget(void **state)
{
	struct sampled at = put_world(600);
	uint64_t segment;

	knobs.max_frames = 100;
	segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, 0);
	assert_int_equal(SEGMENT_ENDING(segment), END_BUDGET);
	assert_int_equal(SEGMENT_COUNT(segment), 100);
	assert_string_equal(strrchr(view_text(&at, VIEW_ASYNC), ' '), " cut");
	ASSERT_THREAD(&at, "1000 1001 1002 1003 1004");
}

/* Whatever one chain eats, the thread has its own budget. */
static void test_budget_is_shared_by_chains(void **state)
{
	struct sampled at = put_world(30);

	put_root(ROOT, CHAIN, ROOT + 0x40, FP(STACK, 1));
	put_root(ROOT + 0x40, CHAIN, 0, FP(STACK, 2));
	knobs.max_frames = 40;
	assert_int_equal(chain_ending(&at), END_DETACHED);
	assert_int_equal(SEGMENT_COUNT(segment_of(walker_sample(&at), SEGMENT_CHAIN, 1)),
			 10);
	assert_int_equal(walker_sample(&at)->ending, END_FP_ZERO);
}

static void test_cycles(void **state)
{
	for (unsigned int length = 1; length <= 150; length++) {
		struct sampled at;
		uint64_t segment;

		world_setup(NULL);
		at = put_world(length + 3);
		memory_put(NODE(length + 2), NODE(3));
		segment = segment_of(walker_sample(&at), SEGMENT_CHAIN, 0);
		assert_int_equal(SEGMENT_ENDING(segment), END_CYCLE);
		assert_in_range(SEGMENT_COUNT(segment), length + 3,
				3 * (length + 3) + 16);
	}
}

static void test_broken_links(void **state)
{
	static const struct {
		uint64_t parent;
		enum ending ending;
	} bad[] = {
		{ NODE(4) + 4, END_BROKEN },	    { 8, END_BROKEN },
		{ 1ULL << 56, END_BROKEN },	    { ~0ULL - 7, END_BROKEN },
		{ 0x123456789000, END_UNREADABLE }, { NODE(4) + 1, END_BROKEN },
	};
	struct sampled at = put_world(6);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memory_put(NODE(1), bad[i].parent);
		ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 cut");
		assert_int_equal(chain_ending(&at), bad[i].ending);
	}
	memory_put(ROOT, 0x123456789000);
	ASSERT_ASYNC(&at, "1000 1001 -- cut");
	assert_int_equal(chain_ending(&at), END_UNREADABLE);
}

static void test_metadata_is_looked_through(void **state)
{
	struct sampled at = put_world(5);

	at.metadata_cookie = 0xc0c0;
	memory_put(NODE(0) + 8, 0xc0c0);
	memory_put(NODE(2) + 8, 0xc0c0);
	memory_put(NODE(3) + 8, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2001 2004");
	memory_put(NODE(4) + 8, 0xc0c0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2001");
	assert_int_equal(chain_ending(&at), END_DETACHED);
	/* nothing but markers, in a ring */
	memory_put(NODE(1), NODE(0));
	memory_put(NODE(1) + 8, 0xc0c0);
	ASSERT_ASYNC(&at, "1000 1001 -- cut");
	assert_int_equal(chain_ending(&at), END_CYCLE);
}

static void test_suspended_cookie(void **state)
{
	struct sampled at = put_world(3);

	/* a cookie that could be read as a root that waits */
	put_root(HEAP + 0x800, NODE(2), 0, FP(STACK, 3));
	memory_put(NODE(2) + 16, HEAP + 0x800);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 2002");
	at.suspended_cookie = HEAP + 0x800;
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 2002");
	assert_int_equal(chain_ending(&at), END_DETACHED);
	at.suspended_cookie = 0x77;
	memory_put(NODE(2) + 16, 0x77);
	assert_int_equal(chain_ending(&at), END_DETACHED);
}

/* folly keeps the running root in the active frame: that one waits for no one. */
static void test_bottom_frame_in_the_current_root(void **state)
{
	struct sampled at = put_world(1);

	memory_put(NODE(0) + 16, ROOT);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000");
	assert_int_equal(chain_ending(&at), END_DETACHED);
	put_chain(CHAIN, 3, 0x2000, ROOT);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 2002");
	assert_int_equal(chain_ending(&at), END_DETACHED);
}

#define LABEL (HEAP + 0x30000)

/* NODE(1) becomes a marker with what a label has. */
static struct sampled put_label(uint64_t text, uint64_t tag)
{
	struct sampled at = put_world(3);

	memory_put(NODE(0), LABEL);
	put_node(LABEL, NODE(2), 0x7e1, 0);
	memory_put(LABEL + 24, text);
	memory_put(LABEL + 32, tag);
	return at;
}

static void put_text(uint64_t addr, const char *text)
{
	size_t n = strlen(text) + 1;
	char padded[64] = "";

	memset(padded, 0x5a, sizeof(padded)); /* of somebody else */
	memcpy(padded, text, n);
	for (size_t i = 0; i < n; i += 8) {
		uint64_t word;

		memcpy(&word, padded + i, 8);
		memory_put(addr + i, word);
	}
}

static void assert_label(const struct sampled *at, const char *text)
{
	const struct sample_rec *rec = walker_sample(at);
	char said[64] = "";
	size_t n = 0;

	for (unsigned int i = 0; i < rec->n_words; i++)
		for (int k = 0; k < 7 && FRAME_KIND(rec->words[i]) == FRAME_LABEL; k++)
			said[n++] = (char)(rec->words[i] >> 8 * k);
	assert_memory_equal(said, text, strlen(text) + 1);
	for (; n > strlen(text); n--) /* and nothing of what lies behind it */
		assert_int_equal(said[n - 1], 0);
	assert_null(record_flaw(rec));
	assert_view(at, VIEW_UNLABELLED, "1000 1001 -- 2000 2002", __FILE__, __LINE__);
	/* a label's own number stands for it: 0, the first */
	ASSERT_ASYNC(at, *text ? "1000 1001 -- 2000 0 2002" : "1000 1001 -- 2000 2002");
}

static void test_labels(void **state)
{
	static const char *const texts[] = { "G",
					     "GET /us",
					     "GET /use",
					     "GET /users",
					     "twenty-eight bytes, exactly.",
					     "thirty-four bytes, one is no more!",
					     "thirty-five bytes, which is most..." };
	const uint64_t text = HEAP + 0x40000;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sampled at = put_label(text, ASYNC_LABEL_TAG);

		put_text(text, texts[i]);
		assert_label(&at, texts[i]);
	}
}

static void test_labels_that_are_none(void **state)
{
	const uint64_t text = HEAP + 0x40000;
	struct sampled at = put_label(text, 0x1234); /* folly's own */

	put_text(text, "");
	assert_label(&at, "");
	at = put_label(text, ASYNC_LABEL_TAG);
	assert_label(&at, "");
	/* and no longer than is left of the budget */
	put_text(text, "GET /users");
	for (knobs.max_frames = 1; knobs.max_frames < 10; knobs.max_frames++) {
		at = put_label(text, ASYNC_LABEL_TAG);
		assert_null(record_flaw(walker_sample(&at)));
	}
}

static void assert_unreadable(uint64_t text, const char *beginning)
{
	struct sampled at = put_label(text, ASYNC_LABEL_TAG);
	const struct sample_rec *rec = walker_sample(&at);
	unsigned int told = 0;
	uint64_t words = 0;

	for (unsigned int i = 0; i < rec->n_words; i++) {
		words += FRAME_KIND(rec->words[i]) == FRAME_LABEL;
		told += rec->words[i] ==
			((uint64_t)FRAME_LABEL << FRAME_KIND_SHIFT | LABEL_UNREADABLE);
	}
	assert_int_equal(told, 1);
	assert_int_equal(words, 1 + strlen(beginning) / LABEL_WORD_BYTES);
	assert_null(record_flaw(rec));
	assert_view(&at, VIEW_UNLABELLED, "1000 1001 -- 2000 2002", __FILE__, __LINE__);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 0 2002");
}

static void test_labels_that_cannot_be_read(void **state)
{
	const uint64_t end = HEAP + 0x41000;

	assert_unreadable(0x123456789000, "");
	assert_unreadable(~0ULL, "");
	/* without an end, up to the end of what is mapped */
	put_text(end - 24, "0123456789abcdefghijklmn");
	memory_unmap(end);
	assert_unreadable(end - 24, "0123456789abcdefghijk");
}

/* Only the last frame's root says anything. */
static void test_roots_of_inner_frames(void **state)
{
	struct sampled at = put_world(3);

	memory_put(NODE(0) + 16, ROOT);
	memory_put(NODE(1) + 16, 0x123456789008);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 2002");
}

static void test_push_seen_half_way(void **state)
{
	struct sampled at = put_world(3);

	/* the new frame is complete, the root not yet told */
	put_node(HEAP + 0x800, CHAIN, 0x3000, 0);
	ASSERT_ASYNC(&at, "1000 1001 -- 2000 2001 2002");
	memory_put(ROOT, HEAP + 0x800);
	ASSERT_ASYNC(&at, "1000 1001 -- 3000 2000 2001 2002");
}

int run_chain_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_lengths),
		CASE(test_reads_ahead),
		CASE(test_reads_ahead_beside_waits),
		CASE(test_budget),
		CASE(test_budget_is_shared_by_chains),
		CASE(test_cycles),
		CASE(test_broken_links),
		CASE(test_metadata_is_looked_through),
		CASE(test_labels),
		CASE(test_labels_that_are_none),
		CASE(test_labels_that_cannot_be_read),
		CASE(test_suspended_cookie),
		CASE(test_bottom_frame_in_the_current_root),
		CASE(test_roots_of_inner_frames),
		CASE(test_push_seen_half_way),
	};

	return cmocka_run_group_tests_name("chains", tests, NULL, NULL);
}
