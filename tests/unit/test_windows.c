/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows over made-up events, closed at every place where one can be: while samples
 * wait for their turn, between a sample and what says whose it is. Each sample is in
 * one window and called what it is; ledgers add up, each, and all together; and
 * nothing stays of what nobody needs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <malloc.h>

#include "made_run.h"

#define N_EVENTS 320

static bool never(const struct run *run)
{
	return false;
}

static bool once(const struct run *run)
{
	return run->steps == run->closes_at;
}

static bool each_time(const struct run *run)
{
	return true;
}

static bool every_so_often(const struct run *run)
{
	return run->steps * 2654435761u % 7 < 2;
}

static void true_leaves(struct tally *truth, const struct made_machine *m)
{
	for (size_t i = 0; i < m->events.n; i++)
		if (m->events.items[i].is_sample)
			tally_add(truth, m->events.items[i].leaf, 1);
}

static void ledgers_are_equal(const struct ledger *a, const struct ledger *b)
{
	assert_int_equal(a->entered, b->entered);
	assert_memory_equal(a->outcomes, b->outcomes, sizeof(a->outcomes));
	assert_memory_equal(a->endings, b->endings, sizeof(a->endings));
	assert_memory_equal(&a->kernel, &b->kernel, sizeof(a->kernel));
}

/* The same as in one window, whatever the number of them. */
static void is_the_same(struct run *run, const struct run *one)
{
	tallies_are_equal(&one->whole, &run->whole);
	tallies_are_equal(&one->leaves, &run->leaves);
	ledgers_are_equal(&run->sums.ledgers[HOOK_ONCPU],
			  &run->ticks.ledgers[HOOK_ONCPU]);
	ledgers_are_equal(&run->sums.ledgers[HOOK_ONCPU], &one->sums.ledgers[HOOK_ONCPU]);
	assert_int_equal(run->flags_async, one->flags_async);
	assert_int_equal(run->chains, one->chains);
	assert_memory_equal(run->endings, one->endings, sizeof(run->endings));
	assert_int_equal(run->merged->timeline.total, one->merged->timeline.total);
}

static void try_seed(uint64_t seed)
{
	struct run one = { .closes = never };
	struct tally truth = { 0 };
	struct made_machine m;

	made_machine(&m, N_EVENTS, seed);
	true_leaves(&truth, &m);
	play(&one, &m);
	assert_int_equal(one.n_windows, 1);
	assert_true(truth.total > N_EVENTS / 4);
	tallies_are_equal(&truth, &one.leaves);
	for (size_t i = 1; i <= one.steps; i++) {
		struct run two = { .closes = once, .closes_at = i };

		play(&two, &m);
		assert_int_equal(two.n_windows, 2);
		is_the_same(&two, &one);
		end_free(&two);
	}
	for (int i = 0; i < 2; i++) {
		struct run many = { .closes = i ? each_time : every_so_often };

		play(&many, &m);
		assert_true(many.n_windows > (i ? 500 : 100));
		assert_true(many.let_go > 10);
		is_the_same(&many, &one);
		end_free(&many);
	}
	end_free(&one);
	tally_free(&truth);
	made_free(&m);
}

static void wherever_it_is_closed_nothing_is_lost_or_twice(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		try_seed(seed);
}

/* A storm's processes live for a moment, and each runs a file of its own. */
static void storm(struct run *run, struct made_machine *m, unsigned int lives)
{
	for (unsigned int i = 0; i < lives; i++) {
		m->events.n = m->bytes.n = 0;
		m->now_ns += 1000000;
		made_exec(m, i % MADE_PIDS);
		made_map(m, i % MADE_PIDS, 0, ++m->files);
		made_sample(m, i % MADE_PIDS, 0, false);
		made_exit(m, i % MADE_PIDS);
		for (size_t k = 0; k < m->events.n; k++)
			hear(run, m, &m->events.items[k]);
	}
	assert_int_equal(pipeline_advance(run->pipeline, m->now_ns), 0);
	if (module_table_is_crowded(run->modules))
		trim(run);
}

static void an_exec_storm_leaves_nothing_behind(void **state)
{
	struct run run = { .closes = never };
	struct made_machine m = { .now_ns = MADE_BEGIN_NS, .random = 1 };
	size_t most[2] = { 0 }, most_bytes[2] = { 0 };

	begin(&run);
	for (unsigned int i = 0; i < 300; i++) {
		struct recorded_window *w;
		size_t *n = &most[i >= 150], *bytes = &most_bytes[i >= 150];

		storm(&run, &m, 100);
		assert_int_equal(windows_close(&run.windows, &run.ticks, false, &w), 0);
		assert_int_equal(window_aggregator(w->window)->samples.total, 100);
		assert_true(adds_up(w));
		recorded_window_free(w);
		if (module_counts(run.modules).now > *n)
			*n = module_counts(run.modules).now;
		if (i > 50 && mallinfo2().uordblks > *bytes)
			*bytes = mallinfo2().uordblks;
	}
	print_message("%zu modules and %zu bytes at most, later %zu and %zu\n", most[0],
		      most_bytes[0], most[1], most_bytes[1]);
	/* of two rounds, and what the open window holds, and came before anyone looked */
	assert_true(most[1] <= 2 * 1024 + 2 * 100);
	assert_true(most[1] <= most[0]);
	/* 15,000 files more were 4 MB */
	assert_true(most_bytes[1] <= most_bytes[0] + (64u << 10));
	assert_true(run.let_go > 25000);
	end_free(&run);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wherever_it_is_closed_nothing_is_lost_or_twice),
		cmocka_unit_test(an_exec_storm_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
