/* SPDX-License-Identifier: BSD-2-Clause */
/* How long mappings waited, counted on fingers. */
#include "publish/delays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static enum delay_state states[4];

static enum delay_state state_of(void *arg, uint32_t module)
{
	return states[module];
}

static void add(struct delays *delays, uint64_t born_ns, uint32_t module)
{
	const struct mapping map = { .born_ns = born_ns, .module = module };

	assert_int_equal(delays_add(delays, &map), 0);
}

static struct delay_summary settle(struct delays *delays, uint64_t now_ns)
{
	struct delay_summary summary;

	delays_settle(delays, state_of, NULL, now_ns);
	delays_summarize(delays, &summary);
	return summary;
}

static void only_late_ones_are_measured(void **state)
{
	struct delays *delays;

	assert_int_equal(delays_new(&delays), 0);
	states[0] = DELAY_OVER;
	add(delays, 100, 0); /* before it began */
	delays_begin(delays, 1000);
	add(delays, 1000, 0);
	assert_int_equal(settle(delays, 5000).measured, 0);
	add(delays, 1001, 0);
	assert_int_equal(settle(delays, 1101).measured, 1);
	assert_int_equal(settle(delays, 9999).max_ns, 100); /* once */
	delays_free(delays);
	delays_free(NULL);
}

static void who_waits_is_measured_later(void **state)
{
	struct delay_summary summary;
	struct delays *delays;

	assert_int_equal(delays_new(&delays), 0);
	delays_begin(delays, 1);
	states[0] = DELAY_WAITS;
	states[1] = DELAY_OVER;
	states[2] = DELAY_OVER_KEYED;
	add(delays, 10, 0);
	add(delays, 10, 1);
	add(delays, 10, 2);
	summary = settle(delays, 30);
	assert_int_equal(summary.measured, 2);
	assert_int_equal(summary.keyed_max_ns, 20);
	states[0] = DELAY_OVER;
	summary = settle(delays, 110);
	assert_int_equal(summary.measured, 3);
	assert_int_equal(summary.max_ns, 100);
	assert_int_equal(summary.median_ns, 20);
	assert_int_equal(summary.keyed_max_ns, 20);
	delays_free(delays);
}

static void shares(void **state)
{
	struct delay_summary summary;
	struct delays *delays;

	assert_int_equal(delays_new(&delays), 0);
	delays_begin(delays, 1);
	states[0] = DELAY_OVER;
	for (uint64_t i = 1; i <= 200; i++)
		add(delays, 1000 - i, 0);
	summary = settle(delays, 1000);
	assert_int_equal(summary.measured, 200);
	assert_in_range(summary.median_ns, 101, 101 + 101 / 32);
	assert_in_range(summary.p90_ns, 180, 180 + 180 / 32);
	assert_in_range(summary.p99_ns, 198, 198 + 198 / 32);
	assert_int_equal(summary.max_ns, 200);
	delays_free(delays);
}

static void there_is_a_limit(void **state)
{
	struct delays *delays;

	assert_int_equal(delays_new(&delays), 0);
	delays_begin(delays, 1);
	states[0] = DELAY_WAITS;
	for (uint64_t i = 0; i < DELAYS_MAX; i++)
		add(delays, 2, 0);
	states[0] = DELAY_OVER;
	add(delays, 2, 0);
	assert_int_equal(settle(delays, 3).measured, DELAYS_MAX);
	add(delays, 2, 0); /* of those that wait, not of all that ever did */
	assert_int_equal(settle(delays, 3).measured, DELAYS_MAX + 1);
	delays_free(delays);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_late_ones_are_measured),
		cmocka_unit_test(who_waits_is_measured_later),
		cmocka_unit_test(shares),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
