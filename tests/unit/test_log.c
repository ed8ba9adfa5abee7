/* SPDX-License-Identifier: BSD-2-Clause */
/* What others can provoke as often as they want does not fill anybody's terminal. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define PROVOKED 5000

static struct {
	unsigned int n;
	enum log_kind kind;
	char last[128];
} heard;

static void hear(enum log_kind kind, const char *line)
{
	heard.n++;
	heard.kind = kind;
	snprintf(heard.last, sizeof(heard.last), "%s", line);
}

/* How many lines that says. */
static unsigned int lines_of(void (*talk)(void))
{
	heard.n = 0;
	log_set_sink(hear);
	talk();
	log_set_sink(NULL);
	talk(); /* to nobody */
	return heard.n;
}

static void provoke(void)
{
	struct log_pace pace = { 0 };

	for (int i = 0; i < PROVOKED; i++)
		log_verbose_paced(&pace, "pid %d is gone", i);
	log_pace_end(&pace);
	log_pace_end(&pace);
}

/* A second later there is room again, and the rest is told first. */
static void provoke_again(void)
{
	struct log_pace pace = { 0 };

	for (int i = 0; i < 2 * LOG_PACED_MAX; i++)
		log_verbose_paced(&pace, "%d", i);
	pace.since_ns -= 2000000000;
	log_verbose_paced(&pace, "later");
	log_pace_end(&pace);
}

static void a_storm_is_ten_lines_and_a_sum(void **state)
{
	unsigned int n;

	log_set_level(LOG_VERBOSE);
	n = lines_of(provoke);
	assert_in_range(n, LOG_PACED_MAX + 1, 3 * LOG_PACED_MAX);
	assert_non_null(strstr(heard.last, "more like these"));
	n = lines_of(provoke_again);
	assert_int_equal(n, LOG_PACED_MAX + 2);
	assert_string_equal(heard.last, "later");
	assert_int_equal(heard.kind, LOG_DETAIL);
}

static void nothing_is_said_that_was_not_asked_for(void **state)
{
	log_set_level(LOG_NORMAL);
	assert_int_equal(lines_of(provoke), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_is_ten_lines_and_a_sum),
		cmocka_unit_test(nothing_is_said_that_was_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
