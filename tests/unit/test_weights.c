// SPDX-License-Identifier: BSD-2-Clause
/*
 * What samples stand for: a weight that is not the usual one is kept through sums,
 * recordings, merges and filters, to the nanosecond, and reaches pprof.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <string.h>

#include "core/aggregator.h"
#include "core/merge.h"
#include "made.h"
#include "read_back.h"

#define USUAL_NS 10000000ULL

static struct timeline_amount weighing(uint64_t count, uint64_t weight_ns)
{
	return (struct timeline_amount){ count, weight_ns };
}

static uint64_t logged_ns(const struct timeline *timeline, uint64_t usual_ns)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	uint64_t sum = 0;

	while (timeline_next(timeline, &at, &sample))
		sum += sample.weight_ns ? sample.weight_ns : sample.count * usual_ns;
	return sum;
}

static uint64_t all_ns(const struct profile *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->timeline.sample_keys.n; i++)
		sum += profile_weight_ns(r, i);
	return sum;
}

static void a_use_weighs_what_its_counts_do(void **state)
{
	struct timeline t = { 0 };
	uint32_t sample_key;

	assert_int_equal(timeline_sample_key(&t, (struct pair){ 1, 1 }, &sample_key), 0);
	assert_int_equal(timeline_add_by_key(&t, 5, sample_key, weighing(3, 0)), 0);
	assert_int_equal(timeline_add_by_key(&t, 5, sample_key, weighing(1, 7)), 0);
	assert_int_equal(timeline_add_by_key(&t, 5, sample_key, weighing(2, 11)), 0);
	assert_int_equal(timeline_add_by_key(&t, 6, sample_key, weighing(1, 13)), 0);
	assert_int_equal(timeline_add_undated_by_key(&t, sample_key, weighing(1, 17)), 0);
	assert_int_equal(timeline_add_undated_by_key(&t, sample_key, weighing(1, 0)), 0);
	assert_int_equal(timeline_flush(&t), 0);
	assert_int_equal(t.total, 9);
	assert_int_equal(t.counts.items[sample_key], 9);
	assert_int_equal(timeline_weight_ns(&t, sample_key, 1000),
			 4 * 1000 + 7 + 11 + 13 + 17);
	assert_int_equal(logged_ns(&t, 1000), 3 * 1000 + 7 + 11 + 13);
	timeline_free(&t);
}

static void a_weight_beyond_all_is_refused(void **state)
{
	struct timeline t = { 0 };
	uint32_t sample_key;

	assert_int_equal(timeline_sample_key(&t, (struct pair){ 1, 1 }, &sample_key), 0);
	assert_int_equal(timeline_add_by_key(&t, 5, sample_key, weighing(1, UINT64_MAX)),
			 0);
	assert_int_equal(
		timeline_add_undated_by_key(&t, sample_key, weighing(2, UINT64_MAX)), 0);
	assert_int_equal(t.refused, 3);
	assert_int_equal(t.total, 0);
	assert_int_equal(timeline_weight_ns(&t, sample_key, 1000), 0);
	timeline_free(&t);
}

/* Of the usual 15 counts, some weigh something else now. */
static struct profile *made_weighing(void)
{
	struct profile *r = NULL;

	assert_int_equal(made_profile(&r, "alpha"), 0);
	timeline_add_by_key(&r->timeline, MADE_SECOND, 0, weighing(2, 123));
	timeline_add_by_key(&r->timeline, MADE_SECOND + 2, 0, weighing(1, 456));
	timeline_add_undated_by_key(&r->timeline, 1, weighing(4, 789));
	timeline_add_undated_by_key(&r->timeline, 1, weighing(1, 0));
	assert_int_equal(profile_finish(r), 0);
	return r;
}

#define MADE_NS	    (USUAL_NS * (MADE_TOTAL + 1) + 123 + 456 + 789)
#define MADE_COUNTS (MADE_TOTAL + 8)

static void a_recording_keeps_them(void **state)
{
	AUTO(profile) r = made_weighing();
	struct bytes bytes = written(&weft_writer, r, VIEW_ASYNC);
	AUTO(profile) back = read_back(&bytes);

	free(bytes.s);
	assert_non_null(back);
	assert_int_equal(all_ns(r), MADE_NS);
	assert_int_equal(back->timeline.total, MADE_COUNTS);
	assert_int_equal(all_ns(back), MADE_NS);
	assert_int_equal(logged_ns(&back->timeline, USUAL_NS),
			 USUAL_NS * MADE_TOTAL + 123 + 456);
	assert_int_equal(profile_period_ns(back), 0); /* not one for all */
}

static void merged_rates_keep_theirs(void **state)
{
	AUTO(profile) into = NULL;
	AUTO(profile) a = made_weighing();
	AUTO(profile) b = made_weighing();

	b->period_ns = 3 * USUAL_NS;
	assert_int_equal(profile_new(&into), 0);
	assert_int_equal(profile_merge(into, a), 0);
	assert_int_equal(profile_merge(into, b), 0);
	assert_int_equal(profile_finish(into), 0);
	assert_int_equal(into->timeline.total, 2 * MADE_COUNTS);
	assert_int_equal(all_ns(into), 2 * MADE_NS + 2 * USUAL_NS * (MADE_TOTAL + 1));
}

/* Where one does not know, nobody does. */
static void merged_with_unknown_weights_there_are_none(void **state)
{
	AUTO(profile) into = NULL;
	AUTO(profile) a = made_weighing();
	AUTO(profile) b = made_weighing();

	b->period_ns = 0;
	assert_int_equal(profile_new(&into), 0);
	assert_int_equal(profile_merge(into, a), 0);
	assert_int_equal(profile_merge(into, b), 0);
	assert_int_equal(into->timeline.total, 2 * MADE_COUNTS);
	assert_int_equal(all_ns(into), 0);
}

static void a_filter_of_time_keeps_those_in_it(void **state)
{
	AUTO(profile) r = made_weighing();
	bool *keep = malloc(r->timeline.sample_keys.n);

	assert_non_null(keep);
	memset(keep, true, r->timeline.sample_keys.n);
	assert_int_equal(timeline_keep(&r->timeline, keep, MADE_SECOND + 2, UINT64_MAX),
			 0);
	free(keep);
	assert_int_equal(r->timeline.total, 4);
	assert_int_equal(all_ns(r), 3 * USUAL_NS + 456);
}

/* Of every other sample key, twice: what is in none, or in both, would show. */
static void parts_add_up_to_the_whole(void **state)
{
	AUTO(profile) r = made_weighing();
	const struct timeline whole = r->timeline;
	size_t n = whole.sample_keys.n;
	bool *keep = malloc(n);
	uint64_t ns = 0, counts = 0, undated = 0;

	assert_non_null(keep);
	for (size_t odd = 0; odd < 2; odd++) {
		for (size_t i = 0; i < n; i++)
			keep[i] = i % 2 == odd;
		assert_int_equal(timeline_part(&whole, keep, &r->timeline), 0);
		assert_true(r->timeline.total < MADE_COUNTS);
		ns += all_ns(r);
		counts += r->timeline.total;
		undated += r->timeline.undated;
		timeline_part_free(&r->timeline);
		r->timeline = whole;
	}
	free(keep);
	assert_int_equal(counts, MADE_COUNTS);
	assert_int_equal(ns, MADE_NS);
	assert_int_equal(undated, whole.undated);
	assert_int_equal(all_ns(r), MADE_NS);
}

/* Its second value is time. */
static void pprof_has_them(void **state)
{
	AUTO(profile) r = made_weighing();
	struct bytes bytes = written(&pprof_writer, r, VIEW_ASYNC);
	AUTO(profile) back = read_back(&bytes);

	free(bytes.s);
	assert_non_null(back);
	assert_int_equal(back->timeline.total, MADE_COUNTS);
	assert_int_equal(all_ns(back), MADE_NS);
}

static void a_profile_says_only_what_is_unusual(void **state)
{
	const uint32_t codes[STACK_HEAD] = { 0, HOOK_ONCPU, END_START, 0, 0 };
	struct sample_owner owner = { .time_ns = 1, .weight_ns = USUAL_NS, .tgid = 1 };
	AUTO(aggregator) aggregator = NULL;

	assert_int_equal(aggregator_new(&aggregator), 0);
	assert_int_equal(aggregator_add(aggregator, codes, STACK_HEAD, &owner), 0);
	assert_int_equal(aggregator->period_ns, USUAL_NS);
	assert_int_equal(aggregator->timeline.weighed_ns, 0);
	owner.weight_ns = 5;
	assert_int_equal(aggregator_add(aggregator, codes, STACK_HEAD, &owner), 0);
	assert_int_equal(aggregator->timeline.weighed_ns, 5);
	assert_int_equal(timeline_weight_ns(&aggregator->timeline, 0, USUAL_NS),
			 USUAL_NS + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_use_weighs_what_its_counts_do),
		cmocka_unit_test(a_weight_beyond_all_is_refused),
		cmocka_unit_test(a_recording_keeps_them),
		cmocka_unit_test(merged_rates_keep_theirs),
		cmocka_unit_test(merged_with_unknown_weights_there_are_none),
		cmocka_unit_test(a_filter_of_time_keeps_those_in_it),
		cmocka_unit_test(parts_add_up_to_the_whole),
		cmocka_unit_test(pprof_has_them),
		cmocka_unit_test(a_profile_says_only_what_is_unusual),
	};

	return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
