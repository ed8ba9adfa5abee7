// SPDX-License-Identifier: BSD-2-Clause
/* When ticks had the rules of other code than there was, and what of a sample is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <stdlib.h>
#include <string.h>

#include "pipeline/pipeline.h"

#define TGID 7

static int put(struct replaced *r, uint32_t tgid, uint64_t start, uint64_t since)
{
	const struct replaced_place place = { start, start + 0x1000, since, 0 };

	return replaced_put(r, tgid, &place);
}

static void put_back(struct replaced *r, uint64_t start, uint64_t since)
{
	const struct replaced_place place = { start, start + 0x1000, since, 1 };

	assert_int_equal(replaced_put(r, TGID, &place), 0);
}

static void lasts_until_it_is_published(void **state)
{
	AUTO(replaced) r = NULL;

	assert_int_equal(replaced_new(&r), 0);
	assert_true(replaced_is_empty(r, TGID));
	replaced_settle(r, TGID, 50);
	assert_false(replaced_is_stale(r, TGID, 0x1000, 100));
	assert_int_equal(put(r, TGID, 0x1000, 100), 0);
	assert_false(replaced_is_empty(r, TGID));
	assert_false(replaced_is_stale(r, TGID, 0x1000, 99));
	assert_true(replaced_is_stale(r, TGID, 0x1000, 100));
	assert_true(replaced_is_stale(r, TGID, 0x1fff, 1ULL << 60));
	assert_false(replaced_is_stale(r, TGID, 0xfff, 100));
	assert_false(replaced_is_stale(r, TGID, 0x2000, 100));
	assert_false(replaced_is_stale(r, TGID + 1, 0x1000, 100));
	assert_int_equal(put(r, TGID, 0x5000, 120), 0);
	replaced_settle(r, TGID, 150);
	assert_true(replaced_is_stale(r, TGID, 0x1000, 149));
	assert_true(replaced_is_stale(r, TGID, 0x5000, 149));
	assert_false(replaced_is_stale(r, TGID, 0x1000, 150));
	assert_false(replaced_is_stale(r, TGID, 0x5000, 150));
}

/* Before that was published, what was there before is there again. */
static void is_over_when_it_is_back(void **state)
{
	AUTO(replaced) r = NULL;

	assert_int_equal(replaced_new(&r), 0);
	assert_int_equal(put(r, TGID, 0x5000, 90), 0);
	assert_int_equal(put(r, TGID, 0x1000, 100), 0);
	put_back(r, 0x1000, 110);
	assert_true(replaced_is_stale(r, TGID, 0x1000, 109));
	assert_false(replaced_is_stale(r, TGID, 0x1000, 110));
	assert_true(replaced_is_stale(r, TGID, 0x5000, 110)); /* elsewhere it lasts */
	assert_int_equal(put(r, TGID, 0x1000, 120), 0);
	/* and other code once more */
	assert_int_equal(put(r, TGID, 0x1000, 130), 0);
	assert_true(replaced_is_stale(r, TGID, 0x1000, 125));
	assert_true(replaced_is_stale(r, TGID, 0x1000, 130));
	replaced_settle(r, TGID, 140);
	assert_true(replaced_is_stale(r, TGID, 0x5000, 139));
	assert_false(replaced_is_stale(r, TGID, 0x5000, 140));
	assert_false(replaced_is_stale(r, TGID, 0x1000, 115));
}

/* Who does it very often costs no more than that: all of it is stale. */
static void of_very_many_it_is_all(void **state)
{
	AUTO(replaced) r = NULL;

	assert_int_equal(replaced_new(&r), 0);
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(put(r, TGID, 0x10000 * i, 100), 0);
	assert_false(replaced_is_stale(r, TGID, 0x7777777, 1000));
	for (uint64_t i = 64; i < REPLACED_MAX * 2; i++)
		assert_int_equal(put(r, TGID, 0x10000 * i, 200), 0);
	assert_false(replaced_is_stale(r, TGID, 0x7777777, 199));
	assert_true(replaced_is_stale(r, TGID, 0x7777777, 1000));
	assert_true(replaced_is_stale(r, TGID, 0, 150)); /* is remembered still */
	replaced_settle(r, TGID, 2000);
	assert_true(replaced_is_stale(r, TGID, 0x7777777, 1999));
	assert_false(replaced_is_stale(r, TGID, 0x7777777, 2000));
	assert_false(replaced_is_stale(r, TGID, 0x10000, 2000));
	assert_int_equal(put(r, TGID, 0, 3000), 0);
	assert_false(replaced_is_stale(r, TGID, 0x7777777, 3000));
}

static void remembers_the_last_ones(void **state)
{
	AUTO(replaced) r = NULL;

	assert_int_equal(replaced_new(&r), 0);
	for (uint32_t i = 0; i < REPLACED_MAX + 10; i++)
		assert_int_equal(put(r, 1 + i % 5000, 0x1000, 100 + i), 0);
	/* of some two, of some one, and the first ones twice again */
	assert_true(replaced_is_stale(r, 1, 0x1000, 100 + 5000));
	assert_true(replaced_is_stale(r, 4000, 0x1000, 1ULL << 60));
	for (uint32_t i = 0; i < REPLACED_MAX; i++)
		assert_int_equal(put(r, 9000 + i, 0x1000, 20000), 0);
	assert_false(replaced_is_stale(r, 1, 0x1000, 1ULL << 60));
	assert_false(replaced_is_stale(r, 4000, 0x1000, 1ULL << 60));
	assert_true(replaced_is_stale(r, 9000, 0x1000, 20000));
}

struct seen {
	struct sample_rec head;
	unsigned long long words[16];
};

static int on_sample(void *arg, const struct sample_rec *rec,
		     const struct process *process)
{
	memcpy(arg, rec, SAMPLE_HEADER_BYTES + rec->n_words * sizeof(*rec->words));
	return 0;
}

#define CALLER(at)  ((unsigned long long)FRAME_CALLER << FRAME_KIND_SHIFT | (at))
#define ASYNC(at)   ((unsigned long long)FRAME_ASYNC << FRAME_KIND_SHIFT | (at))
#define KERNEL_WORD 0xffffffff81000000ULL

/* One at `ts`, with a trace's words behind its stacks. */
static void show(struct pipeline *p, const unsigned long long *words,
		 unsigned int n_thread, unsigned int n, uint64_t ts)
{
	struct event_sink input = pipeline_input(p);
	struct seen seen = { .head = { .ts_ns = ts,
				       .weight_ns = 1,
				       .tgid = TGID,
				       .n_words = (unsigned short)n,
				       .n_kernel = 1,
				       .n_thread = (unsigned short)n_thread,
				       .ending = END_START,
				       .flags = SAMPLE_TRACED } };

	memcpy(seen.words, words, n * sizeof(*words));
	assert_int_equal(
		input.sample(input.arg, &seen, SAMPLE_HEADER_BYTES + n * sizeof(*words)),
		0);
	assert_int_equal(pipeline_advance(p, UINT64_MAX), 0);
}

static struct seen last_seen;

static void cuts_behind_other_code(void **state)
{
	const struct pipeline_sink sink = { .process.arg = &last_seen,
					    .sample = on_sample };
	const unsigned long long words[] = { KERNEL_WORD,
					     0x9000,
					     CALLER(0x1001),
					     CALLER(0x9100),
					     SEGMENT_WORD(SEGMENT_CHAIN, END_DETACHED, 0,
							  0, 1),
					     ASYNC(0x9200),
					     0x1111,
					     0x2222,
					     0x3333 };
	AUTO(pipeline) p = NULL;

	assert_int_equal(pipeline_new(&p, &sink), 0);
	assert_int_equal(put(pipeline_replaced(p), TGID, 0x1000, 100), 0);
	show(p, words, 3, 9, 99);
	assert_int_equal(last_seen.head.n_words, 9);
	assert_int_equal(last_seen.head.ending, END_START);
	show(p, words, 3, 9, 100);
	assert_int_equal(last_seen.head.n_words, 6);
	assert_int_equal(last_seen.head.n_thread, 2);
	assert_int_equal(last_seen.head.ending, END_AWAITED);
	assert_true(last_seen.words[2] == words[2]);
	assert_true(last_seen.words[3] == 0x1111 && last_seen.words[5] == 0x3333);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lasts_until_it_is_published),
		cmocka_unit_test(is_over_when_it_is_back),
		cmocka_unit_test(of_very_many_it_is_all),
		cmocka_unit_test(remembers_the_last_ones),
		cmocka_unit_test(cuts_behind_other_code),
	};

	return cmocka_run_group_tests_name("replaced", tests, NULL, NULL);
}
