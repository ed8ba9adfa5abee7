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

/* Lines on stderr, and the last of them. */
static unsigned int lines_of(void (*talk)(void), char *last, size_t room)
{
	int before = dup(2);
	FILE *f = tmpfile();
	unsigned int n = 0;

	assert_non_null(f);
	dup2(fileno(f), 2);
	talk();
	dup2(before, 2);
	close(before);
	rewind(f);
	while (fgets(last, (int)room, f))
		n++;
	fclose(f);
	return n;
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
	char last[128];
	unsigned int n;

	log_set_level(LOG_VERBOSE);
	n = lines_of(provoke, last, sizeof(last));
	assert_in_range(n, LOG_PACED_MAX + 1, 3 * LOG_PACED_MAX);
	assert_non_null(strstr(last, "more like these"));
	n = lines_of(provoke_again, last, sizeof(last));
	assert_int_equal(n, LOG_PACED_MAX + 2);
	assert_string_equal(last, "weft: later\n");
}

static void nothing_is_said_that_was_not_asked_for(void **state)
{
	char last[128];

	log_set_level(LOG_NORMAL);
	assert_int_equal(lines_of(provoke, last, sizeof(last)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_is_ten_lines_and_a_sum),
		cmocka_unit_test(nothing_is_said_that_was_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
