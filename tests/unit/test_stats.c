/* SPDX-License-Identifier: BSD-2-Clause */
/* What the summary says of what was lost, cut or left out: nothing where nothing was. */
#include "record/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct str said;

static const char *summary(const struct stats *stats)
{
	str_clear(&said);
	stats_summary(&said, stats);
	assert_int_equal(str_error(&said), 0);
	return said.s;
}

#define SAYS(stats, text)	  assert_non_null(strstr(summary(stats), text))
#define DOES_NOT_SAY(stats, text) assert_null(strstr(summary(stats), text))

static struct stats stats_of(struct aggregator *aggregator, uint64_t samples)
{
	struct stats stats = { .hz = 99, .aggregator = aggregator, .adds_up = true };

	aggregator->samples.total = samples;
	aggregator->by_hook[HOOK_ONCPU].samples = samples;
	aggregator->by_hook[HOOK_ONCPU].endings[END_START] = samples;
	for (int view = 0; view < N_VIEWS; view++) {
		stats.views[view].complete = samples;
		stats.views[view].endings[END_START] = samples;
	}
	return stats;
}

static void nothing_is_said_of_nothing(void **state)
{
	static const char *const words[] = { "cut",    "gap: frames",	 "dropped",
					     "raise",  "not opened",	 "chains",
					     "waited", "does not add up" };
	AUTO(aggregator) aggregator = NULL;
	struct stats stats;

	assert_int_equal(aggregator_new(&aggregator), 0);
	stats = stats_of(aggregator, 1000);
	SAYS(&stats, "100.0 %  are complete: from the leaf to a start, without a gap");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		DOES_NOT_SAY(&stats, words[i]);
}

static void who_is_nice_is_told_where_tables_come_late(void **state)
{
	AUTO(aggregator) aggregator = NULL;
	struct stats stats;

	assert_int_equal(aggregator_new(&aggregator), 0);
	stats = stats_of(aggregator, 1000);
	aggregator->samples.awaited = 21;
	DOES_NOT_SAY(&stats, "nice");
	stats.nice = -10;
	DOES_NOT_SAY(&stats, "nice");
	stats.nice = 10;
	SAYS(&stats, "weft record ... -- nice COMMAND");
	aggregator->samples.awaited = 20;
	DOES_NOT_SAY(&stats, "nice");
}

static void why_stacks_are_not_whole(void **state)
{
	AUTO(aggregator) aggregator = NULL;
	struct stats stats;

	assert_int_equal(aggregator_new(&aggregator), 0);
	stats = stats_of(aggregator, 100000);
	aggregator->samples.async = 50000;
	aggregator->samples.roots_cut = 7;
	aggregator->chain_endings[END_DETACHED] = 40000;
	aggregator->chain_endings[END_BUDGET] = 348;
	aggregator->waiting_endings[END_TORN] = 2;
	aggregator->waiting_endings[END_START] = 8;
	stats.views[VIEW_ASYNC].complete = 93900;
	stats.views[VIEW_ASYNC].gaps = 30;
	stats.views[VIEW_ASYNC].endings[END_BUDGET] = 348;
	SAYS(&stats, " 93.9 %  are complete");
	SAYS(&stats, " <0.1 %  have a gap: frames are missing in between");
	SAYS(&stats, "  0.3 %  cut: more frames than the budget");
	SAYS(&stats, "348 of 40348 chains were cut: more frames than the budget");
	SAYS(&stats, "2 of 10 waiting threads' stacks were cut: changed while");
	SAYS(&stats, "--max-frames raises the budget, up to 1024");
	SAYS(&stats, "<0.1 %  have more than 64 async roots: a gap replaces the rest");
	/* of the view that was written */
	stats.view = VIEW_THREAD;
	SAYS(&stats, "100.0 %  are complete");
}

static void what_was_left_out(void **state)
{
	static const struct aggregator_process sampled = { .tgid = 42 };
	AUTO(aggregator) aggregator = NULL;
	struct stats stats;
	uint32_t id;

	assert_int_equal(aggregator_new(&aggregator), 0);
	stats = stats_of(aggregator, 10);
	stats.files.over_limit = 3;
	stats.publisher.mapping_tables = (struct mapping_tables_counts){
		.cut = 28000000, .n_cut_of = 2, .cut_of = { 41, 42 }
	};
	stats.publisher.refused = 2;
	stats.publisher.slow = 4;
	stats.publisher.overdue = 1;
	SAYS(&stats, "3 files were not opened");
	DOES_NOT_SAY(&stats, "executable mappings"); /* none of these was sampled */
	assert_int_equal(intern_id(aggregator->processes, &sampled, sizeof(sampled), &id),
			 0);
	SAYS(&stats, "process 42 has more than 4095 executable mappings");
	stats.publisher.mapping_tables.cut_of[1] = 43;
	DOES_NOT_SAY(&stats, "executable mappings");
	stats.publisher.mapping_tables.n_cut_of = MAPPING_TABLES_CUT_MAX;
	SAYS(&stats, "a process has more than 4095 executable mappings");
	stats.publisher.tables.unread = 5;
	DOES_NOT_SAY(&stats, "more code without"); /* nothing is cut */
	stats.views[VIEW_ASYNC].endings[END_BROKEN] = 1;
	SAYS(&stats, "more code without call frame information than is read: 5\n");
	SAYS(&stats, "2 processes could not be published to the kernel");
	SAYS(&stats, "4 processes waited more than 2 s for an unwind table:\n");
	SAYS(&stats, "1 process waited more than 2 s for an unwind table: please report");
}

static int end(void **state)
{
	str_free(&said);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_nothing),
		cmocka_unit_test(why_stacks_are_not_whole),
		cmocka_unit_test(who_is_nice_is_told_where_tables_come_late),
		cmocka_unit_test(what_was_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
