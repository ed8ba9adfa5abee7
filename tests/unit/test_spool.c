/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of profiles rise over the lives of an agent, whatever waited at their turn. */
#include "deliver/spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_rise_when_nothing_waited, enter,
						leave),
		cmocka_unit_test_setup_teardown(ids_rise_behind_what_waits, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
