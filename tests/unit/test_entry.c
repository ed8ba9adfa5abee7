/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table's pages become an entry and come back in turn; of one with a page that is
 * another's, the last never do.
 */
#include "base/error.h"
#include "unwind/entry.h"

#include "elf_files.h"

#include <errno.h>

#define PAGES 300

static union unwind_page pages[PAGES], came[PAGES], room[ENTRY_PAGES_AT_ONCE];
static uint32_t n_came;
static struct entry entry;
static const struct hash name = { { 1, 2, 3 } };

static int make_pages(void **state)
{
	uint32_t number = 1;

	for (uint32_t page = 1; page < PAGES; page++)
		for (size_t i = 0; i < UNWIND_PAGE_BYTES; i++) {
			number = number * 1664525 + 1013904223;
			pages[page].bytes[i] = (uint8_t)(number >> 24);
		}
	return 0;
}

/* An entry of as many, which come `step` at a time; who frees it closes *ret_fd. */
static struct outfile *write_entry(uint32_t n_pages, uint32_t step, int *ret_fd)
{
	struct entry_writer writer = { 0 };

	pages[0].head = (struct unwind_head){ .n_pages = n_pages,
					      .rules_page = 1,
					      .n_rules = 1,
					      .blocks_page = 2,
					      .rows_page = 2 };
	memset(&entry, 0, sizeof(entry));
	entry.head.name = name;
	entry.byte_ranges.file_bytes = 100;
	entry.byte_ranges.n = 2;
	entry.byte_ranges.ranges[0] = (struct byte_range){ 0, 10 };
	entry.byte_ranges.ranges[1] = (struct byte_range){ 90, 10 };
	assert_int_equal(outfile_new_memory(&writer.out, ret_fd), 0);
	for (uint32_t at = 0, n; at < n_pages; at += n) {
		n = n_pages - at < step ? n_pages - at : step;
		assert_int_equal(entry_write_pages(&writer, pages + at, n), 0);
	}
	assert_int_equal(entry_write_head(&writer, &entry), 0);
	return writer.out;
}

static void take(void *arg, uint32_t first, const union unwind_page *some, uint32_t n)
{
	assert_int_equal(first, n_came);
	assert_true(n && n <= ENTRY_PAGES_AT_ONCE && n <= PAGES - first);
	memcpy(came + first, some, n * sizeof(*some));
	n_came += n;
}

static int read_entry(int fd)
{
	const struct entry_sink sink = { take, NULL };
	struct unwind_head head;
	struct stat st;
	int err;

	n_came = 0;
	memset(&entry, 0xaa, sizeof(entry));
	assert_int_equal(fstat(fd, &st), 0);
	err = entry_read_head(fd, (uint64_t)st.st_size, &name, &entry);
	if (!err)
		err = entry_read_pages(fd, &entry, room, &sink, &head);
	if (!err) {
		assert_int_equal(entry.byte_ranges.n, 2);
		assert_int_equal(entry.byte_ranges.ranges[1].offset, 90);
		assert_memory_equal(&head, &pages[0].head, sizeof(head));
	}
	error_clear();
	return err;
}

static void comes_back(void **state)
{
	const uint32_t sizes[] = { 2, 63, 64, 65, 128, PAGES };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (uint32_t step = 1; step <= 64; step *= 8) {
			int fd;
			struct outfile *out = write_entry(sizes[i], step, &fd);

			assert_int_equal(read_entry(fd), 0);
			assert_int_equal(n_came, sizes[i]);
			assert_memory_equal(came, pages, n_came * sizeof(*came));
			outfile_free(out);
		}
}

/* A byte of each page, there and back again; two pages in each other's place. */
static void another_s_page_is_noticed(void **state)
{
	int fd;
	struct outfile *out = write_entry(PAGES, 64, &fd);

	for (uint32_t page = 0; page < PAGES; page++) {
		off_t at = (off_t)page * UNWIND_PAGE_BYTES + 200 + page;
		uint8_t byte = pages[page].bytes[200 + page] ^ 1;

		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(read_entry(fd), -EBADMSG);
		assert_true(n_came < PAGES);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(read_entry(fd), 0);
	assert_int_equal(pwrite(fd, &pages[5], sizeof(*pages), 4 * sizeof(*pages)),
			 sizeof(*pages));
	assert_int_equal(pwrite(fd, &pages[4], sizeof(*pages), 5 * sizeof(*pages)),
			 sizeof(*pages));
	assert_int_equal(read_entry(fd), -EBADMSG);
	outfile_free(out);
}

/* A head page by which parts of the table would lie behind it, whatever the sum says. */
static void nothing_comes_of_a_head_that_is_none(void **state)
{
	int fd;
	struct outfile *out = write_entry(PAGES, PAGES, &fd);
	union unwind_page head;

	assert_int_equal(read_entry(fd), 0);
	head = pages[0];
	head.head.rows_page = PAGES + 1;
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(read_entry(fd), -EBADMSG);
	assert_int_equal(n_came, 0);
	outfile_free(out);
}

static void no_size_is_taken_for_it(void **state)
{
	int fd;
	struct outfile *out = write_entry(3, 3, &fd);
	const uint64_t numbers[] = { 0, 1, 2, 4, 1 << 14, 1ULL << 52, -1ULL };
	uint64_t n_pages = 3;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		assert_int_equal(pwrite(fd, &numbers[i], 8, st.st_size - 8), 8);
		assert_int_equal(read_entry(fd), -EBADMSG);
	}
	assert_int_equal(pwrite(fd, &n_pages, 8, st.st_size - 8), 8);
	assert_int_equal(read_entry(fd), 0);
	outfile_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(another_s_page_is_noticed),
		cmocka_unit_test(nothing_comes_of_a_head_that_is_none),
		cmocka_unit_test(no_size_is_taken_for_it),
	};

	return cmocka_run_group_tests(tests, make_pages, NULL);
}
