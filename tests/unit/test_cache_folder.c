/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of the cache of unwind tables: whose it may be, what may lie in it, and how
 * much of it there may be.
 */
#include "cached.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static void expect_no_cache(const char *folder)
{
	struct looked_up all;

	look_up(folder, "one.so", &all);
	assert_true(is_table_of(&all, "one.so"));
	EXPECT(&all, 1, 0, 0);
	assert_int_equal(all.counts.cache.misses, 0);
	looked_up_free(&all);
}

static void uses_no_folder_of_others(void **state)
{
	char path[512];

	assert_int_equal(shell("mkdir open linked && chmod 755 open && chmod 700 linked "
			       "&& ln -s linked link && touch file"),
			 0);
	expect_no_cache("open");
	expect_no_cache("link");
	expect_no_cache("file");
	expect_no_cache("nowhere/cache");
	assert_int_equal(files_in("open", path), 0);
	assert_int_equal(files_in("linked", path), 0);
	if (geteuid())
		return;
	assert_int_equal(shell("mkdir -m 700 foreign && chown 65534 foreign"), 0);
	expect_no_cache("foreign");
	assert_int_equal(files_in("foreign", path), 0);
}

/* No room: told once, nothing left behind, and the tables are there. */
static void does_without_writing(void **state)
{
	struct rlimit limit, small = { 100, RLIM_INFINITY };
	struct looked_up all;
	char path[512];

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	look_up("cache", "one.so", &all);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(is_table_of(&all, "one.so"));
	EXPECT(&all, 1, 0, 0);
	assert_int_equal(all.counts.cache.failed, 1);
	assert_int_equal(files_in("cache", path), 0);
	looked_up_free(&all);
}

/* Entry after entry goes, the longest unused first, and nothing else. */
static void keeps_to_its_size(void **state)
{
	struct looked_up all;
	struct timespec times[2] = { 0 };
	char path[512], name[512];
	struct stat st;

	look_up("cache", "two.so", &all); /* used today */
	looked_up_free(&all);
	/* or what comes by itself is noticed later */
	assert_int_equal(shell("rm $(grep -l weftkf cache/*)"), 0);
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "cache/%064x", i);
		assert_int_equal(shell("truncate -s 30M %s", name), 0);
		times[0].tv_sec = times[1].tv_sec = 1000000 + 1000 * (i * 7 % 9);
		assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
	}
	assert_int_equal(shell("truncate -s 300M cache/a-file-of-somebodys && "
			       "touch -d 1990-01-01 cache/a-file-of-somebodys "
			       "cache/%064x.123.part",
			       1),
			 0);
	look_up("cache", "one.so", &all);
	EXPECT(&all, 1, 0, 1);
	/* 270 MB are more than 256; an eighth of these is left free, so 210 stay */
	assert_int_equal(all.counts.cache.removed, 2);
	looked_up_free(&all);
	for (int i = 0; i < 9; i++) {
		bool goes = i * 7 % 9 < 2;

		snprintf(name, sizeof(name), "cache/%064x", i);
		assert_int_equal(stat(name, &st) < 0, goes);
	}
	assert_int_equal(stat("cache/a-file-of-somebodys", &st), 0);
	assert_int_equal(files_in("cache", path), 7 + 1 + 2);
	look_up("cache", "two.so", &all);
	EXPECT(&all, 0, 1, 0);
	looked_up_free(&all);
}

/* The list says what the folder held; more than it may have is noticed by the sum. */
static void knows_what_the_folder_held(void **state)
{
	struct looked_up all;

	look_up("cache", "one.so", &all);
	looked_up_free(&all);
	look_up("cache", "two.so", &all); /* it holds something, which is counted */
	looked_up_free(&all);
	assert_int_equal(shell("for i in $(seq 100 108); do "
			       "truncate -s 30M cache/$(printf %%064x $i); done"),
			 0);
	assert_int_equal(shell("rm $(grep -L weftkf $(find cache -type f -size -1000))"),
			 0);
	look_up("cache", "two.so", &all); /* others' 270 MB: not looked for yet */
	EXPECT(&all, 1, 0, 1);
	assert_int_equal(all.counts.cache.removed, 0);
	looked_up_free(&all);
	assert_int_equal(shell("rm $(grep -l weftkf cache/*)"), 0);
	look_up("cache", "one.so", &all);
	EXPECT(&all, 1, 0, 1);
	assert_int_equal(all.counts.cache.removed, 2);
	looked_up_free(&all);
}

/* Using an entry makes it young. */
static void knows_what_is_used(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
	struct looked_up all;
	char path[512];
	struct stat st;

	look_up("cache", "one.so", &all);
	looked_up_free(&all);
	files_in("cache", path);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	look_up("cache", "one.so", &all);
	EXPECT(&all, 0, 1, 0);
	looked_up_free(&all);
	assert_int_equal(stat(path, &st), 0);
	assert_true(time(NULL) - st.st_mtime < 100);
}

/* Of two files with the same ends, the first that is made. */
static void keeps_one_of_two_at_once(void **state)
{
	const struct hash ends = { { 1 } }, other = { { 2 } };
	struct cache_writer *one, *another;
	AUTO(cache) cache = NULL;
	struct cache_counts counts;

	assert_int_equal(cache_new(&cache, "cache"), 0);
	one = cache_begin(cache, &ends, 3);
	another = cache_begin(cache, &other, 3);
	assert_true(one && another);
	assert_null(cache_begin(cache, &ends, 3));
	cache_count(cache, &counts);
	assert_int_equal(counts.failed + counts.too_large, 0);
	cache_writer_free(one);
	cache_writer_free(another);
}

static void keeps_none_that_is_too_large(void **state)
{
	const struct hash ends = { { 1 } };
	AUTO(cache) cache = NULL;
	struct cache_counts counts;

	assert_int_equal(cache_new(&cache, "cache"), 0);
	assert_null(cache_begin(cache, &ends, UNWIND_PAGES_MAX));
	cache_count(cache, &counts);
	assert_int_equal(counts.too_large, 1);
	assert_int_equal(counts.failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(uses_no_folder_of_others, cached_begin),
		cmocka_unit_test_setup(does_without_writing, cached_begin),
		cmocka_unit_test_setup(keeps_to_its_size, cached_begin),
		cmocka_unit_test_setup(knows_what_the_folder_held, cached_begin),
		cmocka_unit_test_setup(knows_what_is_used, cached_begin),
		cmocka_unit_test_setup(keeps_one_of_two_at_once, cached_begin),
		cmocka_unit_test_setup(keeps_none_that_is_too_large, cached_begin),
	};

	return cmocka_run_group_tests(tests, cached_setup, files_teardown);
}
