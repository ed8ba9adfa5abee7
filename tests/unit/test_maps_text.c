// SPDX-License-Identifier: BSD-2-Clause
/* What a process maps code from: what the kernel answers who asks for it is what it
 * prints in /proc/PID/maps, and no more is read than is wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "proc/maps_text.h"
#include "proc/open_copy.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Without the blanks before a path. */
static size_t sorted_lines(struct str *text, char *lines[256])
{
	char *next = text->s, *line;
	size_t n = 0;

	while ((line = maps_text_line(&next))) {
		char *path = strstr(line, "  ");

		if (path)
			memmove(path + 1, path + strspn(path, " "),
				strlen(path + strspn(path, " ")) + 1);
		if (!strstr(line, "[vsyscall]"))
			lines[n++] = line;
		assert_true(n < 256);
	}
	qsort(lines, n, sizeof(*lines), by_text);
	return n;
}

/* Who can be asked for code says of it what is printed: files with odd names, one that
 * was deleted, memory with and without a name. */
static void asked_or_printed_code_is_the_same(void **state)
{
	static const char *const names[] = { "a\nb c", "deleted" };
	const struct maps_most all = { SIZE_MAX, SIZE_MAX };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int flags[] = { MAP_PRIVATE, MAP_SHARED };
	const int prot[] = { PROT_READ | PROT_EXEC, PROT_EXEC,
			     PROT_READ | PROT_WRITE | PROT_EXEC };
	char folder[] = "/tmp/weft-maps.XXXXXX", path[64];
	AUTO_CLOSE int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int printed_fd = -1;
	AUTO_STR asked = { 0 };
	AUTO_STR printed = { 0 };
	char *asked_lines[256], *printed_lines[256];
	size_t n;

	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		AUTO_CLOSE int file = -1;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
		assert_int_equal(ftruncate(file, (off_t)page), 0);
		for (int j = 0; j < 6; j++)
			assert_true(mmap(NULL, page, prot[j / 2], flags[j % 2], file,
					 0) != MAP_FAILED);
	}
	assert_int_equal(unlink(path), 0);
	for (int i = 0; i < 2; i++)
		assert_true(mmap(NULL, page, prot[i], flags[i] | MAP_ANONYMOUS, -1, 0) !=
			    MAP_FAILED);
	assert_true(fd >= 0);
	assert_int_equal(maps_text_read(fd, all, &asked), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(open_copy(fd, UINT64_MAX, &printed_fd), 0); /* can't be asked */
	assert_int_equal(maps_text_read(printed_fd, all, &printed), 0);
	assert_non_null(strstr(printed.s, "a\\012b c"));
	assert_non_null(strstr(printed.s, "deleted (deleted)"));
	n = sorted_lines(&printed, printed_lines);
	assert_int_equal(sorted_lines(&asked, asked_lines), n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(asked_lines[i], printed_lines[i]);
	snprintf(path, sizeof(path), "%s/%s", folder, names[0]);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Whoever maps without measure, and be it data. */
static void no_more_is_read_than_is_wanted(void **state)
{
	const struct maps_most lines = { 1, SIZE_MAX }, printed_bytes = { SIZE_MAX, 1 };
	AUTO_CLOSE int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int copy = -1;
	AUTO_STR text = { 0 };

	assert_int_equal(maps_text_read(maps, lines, &text), -E2BIG);
	assert_true(text.n > 1);
	assert_int_equal(text.s[text.n - 1], '\n');
	error_clear();
	assert_int_equal(lseek(maps, 0, SEEK_SET), 0);
	assert_int_equal(open_copy(maps, UINT64_MAX, &copy), 0);
	str_clear(&text);
	assert_int_equal(maps_text_read(copy, lines, &text), -E2BIG);
	error_clear();
	assert_int_equal(lseek(copy, 0, SEEK_SET), 0);
	assert_int_equal(maps_text_read(copy, printed_bytes, &text), -E2BIG);
	error_clear();
}

/* Pages of code between others that are none. */
static void where_one_lies(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	AUTO_CLOSE int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int copy = -1;
	struct map_range range;
	uint64_t at;

	at = (uintptr_t)mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	assert_int_equal(
		mprotect((void *)(uintptr_t)(at + page), 2 * page, PROT_READ | PROT_EXEC),
		0);
	assert_int_equal(open_copy(maps, UINT64_MAX, &copy), 0); /* can't be asked */
	for (int i = 0; i < 2; i++) {
		int fd = i ? copy : maps;

		for (unsigned int j = 0; j < 4; j++) {
			bool is_code = j == 1 || j == 2;

			range = (struct map_range){ 0 };
			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
			assert_int_equal(maps_text_range(fd, at + j * page, &range),
					 is_code ? 0 : -ENOENT);
			assert_int_equal(range.start, is_code ? at + page : 0);
			assert_int_equal(range.end, is_code ? at + 3 * page : 0);
		}
	}
	error_clear();
	assert_int_equal(munmap((void *)(uintptr_t)at, 4 * page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_or_printed_code_is_the_same),
		cmocka_unit_test(no_more_is_read_than_is_wanted),
		cmocka_unit_test(where_one_lies),
	};

	return cmocka_run_group_tests_name("maps_text", tests, NULL, NULL);
}
