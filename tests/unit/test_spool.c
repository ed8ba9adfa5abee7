/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of profiles rise over the lives of an agent, whatever waited at their turn; and
 * what waits has its age by the clock, which may be set. */
#include "deliver/spool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];

static int enter(void **state)
{
	strcpy(folder, "/tmp/weft-unit.XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

static struct spool *begin(void)
{
	const struct spool_config config = { .path = "spool",
					     .ending = ".x",
					     .bytes_max = 1 << 20,
					     .age_max_ns = UINT64_MAX };
	struct spool *spool;

	usleep(2000); /* an agent takes longer to begin */
	assert_int_equal(spool_new(&spool, &config), 0);
	return spool;
}

static int write_word(void *arg, struct outfile *out)
{
	return outfile_add(out, arg, strlen(arg));
}

static void add(struct spool *spool, char name[SPOOL_NAME_BYTES])
{
	char word[] = "profile";

	assert_int_equal(spool_add(spool, "async", write_word, word), 0);
	strcpy(name, spool_oldest(spool)->name);
}

static void deliver(struct spool *spool)
{
	close(spool_hold(spool));
	spool_remove(spool);
}

static void ids_rise_when_nothing_waited(void **state)
{
	char before[SPOOL_NAME_BYTES] = "", name[SPOOL_NAME_BYTES];

	for (int life = 0; life < 3; life++) {
		struct spool *spool = begin();

		usleep(3000); /* a life takes a ms for each profile, or longer */
		for (int i = 0; i < 3; i++) {
			add(spool, name);
			assert_true(strcmp(name, before) > 0);
			strcpy(before, name);
			deliver(spool);
		}
		spool_free(spool);
	}
}

/* As after the clock was set back. */
static void ids_rise_behind_what_waits(void **state)
{
	static const char late[] = "999999999000-20520101T000000Z-async.x";
	struct spool *spool = begin();
	char name[SPOOL_NAME_BYTES];
	FILE *file;

	spool_free(spool);
	file = fopen("spool/999999999000-20520101T000000Z-async.x", "w");
	assert_non_null(file);
	fclose(file);
	spool = begin();
	assert_string_equal(spool_oldest(spool)->name, late);
	deliver(spool);
	add(spool, name);
	assert_memory_equal(name, "999999999001-", 13);
	spool_free(spool);
}

/* The clock was set by so many seconds since the only profile was written; then a spool
 * begins that keeps them for half an hour. How many were dropped? */
static uint64_t dropped_after(long step_s)
{
	const struct spool_config config = { .path = "spool",
					     .ending = ".x",
					     .bytes_max = 1 << 20,
					     .age_max_ns = 1800000000000 };
	char name[SPOOL_NAME_BYTES], path[SPOOL_NAME_BYTES + 8];
	struct timespec times[2];
	struct spool *spool = begin();
	uint64_t dropped;

	add(spool, name);
	spool_free(spool);
	snprintf(path, sizeof(path), "spool/%s", name);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= step_s;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(spool_new(&spool, &config), 0);
	assert_int_equal(spool_counts(spool)->found, 1);
	spool_trim(spool);
	dropped = spool_counts(spool)->dropped;
	assert_int_equal(spool_counts(spool)->items, 1 - dropped);
	if (!dropped)
		deliver(spool);
	spool_free(spool);
	return dropped;
}

static void a_clock_that_is_set_costs_what_is_too_old_by_it(void **state)
{
	assert_int_equal(dropped_after(0), 0);
	assert_int_equal(dropped_after(-3600), 0);
	assert_int_equal(dropped_after(3600), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_rise_when_nothing_waited, enter,
						leave),
		cmocka_unit_test_setup_teardown(ids_rise_behind_what_waits, enter, leave),
		cmocka_unit_test_setup_teardown(
			a_clock_that_is_set_costs_what_is_too_old_by_it, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
