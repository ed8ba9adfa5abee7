// SPDX-License-Identifier: BSD-2-Clause
/* Debug files that are kept: how many bytes, how long, which go first, and what is
 * no entry. */
#include "sym/debug_cache.h"

#include "base/hash.h"

#include "elf_files.h"

#include <errno.h>
#include <utime.h>

#define MB    ((off_t)1 << 20)
#define DAY_S (24 * 3600)

static char top[128];

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	snprintf(top, sizeof(top), "%s/cache", files_dir);
	/* no other folder is looked at */
	return setenv("DEBUGINFOD_CACHE_PATH", "/nowhere", 1);
}

static struct build_id id_of(uint8_t which)
{
	return (struct build_id){ .bytes = 20, .id = { 1, which } };
}

static struct debug_cache *begin(void)
{
	struct debug_cache *cache;

	assert_int_equal(debug_cache_new(&cache, top), 0);
	assert_non_null(cache);
	return cache;
}

/* Sparse: so many bytes in the books, and none on the disk. */
static int file_of(off_t bytes)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	return fd;
}

static void keep(struct debug_cache *cache, uint8_t which, off_t bytes)
{
	struct build_id id = id_of(which);
	int fd = file_of(bytes);

	debug_cache_keep(cache, &id, fd);
	close(fd);
}

static bool has(struct debug_cache *cache, uint8_t which)
{
	struct build_id id = id_of(which);
	int fd = debug_cache_open(cache, &id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const char *path_of(uint8_t which)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/debuginfod/01%02x", top, which);
	for (size_t i = 2; i < sizeof(struct hash); i++)
		strcat(path, "00");
	return path;
}

/* Last used so long ago, and as large as that in the books; it takes no room. */
static void set_entry(uint8_t which, time_t ago_s, off_t bytes)
{
	const struct utimbuf then = { time(NULL) - ago_s, time(NULL) - ago_s };

	assert_int_equal(truncate(path_of(which), bytes), 0);
	assert_int_equal(utime(path_of(which), &then), 0);
}

static int empty(void **state)
{
	return shell("rm -rf cache");
}

static void keeps_what_was_used_last(void **state)
{
	struct debug_cache *cache = begin();
	struct build_id fourth = id_of(4);
	int fd;

	for (uint8_t i = 1; i <= 3; i++)
		keep(cache, i, 100);
	set_entry(1, 3000, 400 * MB);
	set_entry(2, 1000, 400 * MB);
	set_entry(3, 2000, 400 * MB);
	debug_cache_free(cache);
	cache = begin(); /* more than 1 GiB */
	assert_false(access(path_of(1), F_OK) == 0);
	assert_int_equal(access(path_of(2), F_OK), 0);
	assert_int_equal(access(path_of(3), F_OK), 0);
	/* a fourth needs room before it is there */
	fd = file_of(300 * MB);
	assert_int_equal(debug_cache_begin(cache, &fourth, fd), 0);
	assert_true(has(cache, 2));
	assert_false(has(cache, 3));
	close(fd);
	debug_cache_free(cache);
}

static void to_be_read_is_to_be_used(void **state)
{
	struct debug_cache *cache = begin();

	keep(cache, 1, 100);
	keep(cache, 2, 100);
	set_entry(1, 20 * DAY_S, 600 * MB);
	set_entry(2, 10 * DAY_S, 600 * MB);
	assert_true(has(cache, 1));
	debug_cache_free(cache);
	cache = begin();
	assert_true(has(cache, 1));
	assert_false(has(cache, 2));
	debug_cache_free(cache);
}

static void lets_go_what_nobody_used(void **state)
{
	struct debug_cache *cache = begin();

	keep(cache, 1, 100);
	keep(cache, 2, 100);
	set_entry(1, DEBUG_CACHE_AGE_S + DAY_S, 100);
	set_entry(2, DEBUG_CACHE_AGE_S - DAY_S, 100);
	debug_cache_free(cache);
	cache = begin();
	assert_false(has(cache, 1));
	assert_true(has(cache, 2));
	debug_cache_free(cache);
}

/* It would leave no room for others. */
static void keeps_none_of_half_its_size(void **state)
{
	struct debug_cache *cache = begin();
	struct build_id id = id_of(1);
	int fd;

	keep(cache, 2, 100);
	fd = file_of(DEBUG_CACHE_BYTES_MAX / 2 + 1);
	assert_int_equal(debug_cache_begin(cache, &id, fd), -EINVAL);
	assert_true(has(cache, 2));
	close(fd);
	debug_cache_free(cache);
}

static void a_part_is_no_entry(void **state)
{
	struct debug_cache *cache = begin();
	struct build_id id = id_of(1);
	int fd = file_of(10 * MB);

	assert_int_equal(debug_cache_begin(cache, &id, fd), 0);
	assert_int_equal(debug_cache_step(cache), DEBUG_CACHE_MORE);
	assert_false(has(cache, 1));
	debug_cache_free(cache);
	cache = begin();
	assert_false(has(cache, 1));
	debug_cache_keep(cache, &id, fd);
	assert_true(has(cache, 1));
	close(fd);
	debug_cache_free(cache);
}

static void takes_no_damaged_entry(void **state)
{
	struct debug_cache *cache = begin();
	struct build_id id = id_of(2);

	keep(cache, 1, 100);
	assert_int_equal(chmod(path_of(1), 0620), 0); /* others may write there */
	assert_false(has(cache, 1));
	assert_int_equal(unlink(path_of(1)), 0);
	assert_int_equal(symlink("/etc/passwd", path_of(1)), 0);
	assert_false(has(cache, 1));
	/* what proved to be of another build goes */
	keep(cache, 2, 100);
	assert_true(has(cache, 2));
	debug_cache_drop(cache, &id);
	assert_false(has(cache, 2));
	debug_cache_free(cache);
}

/* A file is where the folder should be: nobody can write there, not even root. */
static void works_without_a_folder(void **state)
{
	struct build_id id = id_of(1);
	struct debug_cache *cache;
	int fd = file_of(100);

	write_file("cache", "", 0);
	assert_int_equal(debug_cache_new(&cache, top), 0);
	assert_null(cache);
	debug_cache_keep(cache, &id, fd);
	debug_cache_drop(cache, &id);
	assert_false(has(cache, 1));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(keeps_what_was_used_last, empty),
		cmocka_unit_test_setup(to_be_read_is_to_be_used, empty),
		cmocka_unit_test_setup(lets_go_what_nobody_used, empty),
		cmocka_unit_test_setup(keeps_none_of_half_its_size, empty),
		cmocka_unit_test_setup(a_part_is_no_entry, empty),
		cmocka_unit_test_setup(takes_no_damaged_entry, empty),
		cmocka_unit_test_setup(works_without_a_folder, empty),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
