// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines and inlined functions out of Go's own table: what its entries say, in each form
 * that they have, and wherever runtime.moduledata lies; none where that is not to be
 * found; and damage.
 */
#include "go_program.h"

#include "obj/go_lines.h"

#include <errno.h>
#include <inttypes.h>

#define MAIN_AT	  0x20	 /* main.main, from the beginning of the code on */
#define TABLE_AT  0x2000 /* in the file; so much behind it the module ends */
#define DAMAGED	  0x4e0
#define ADDRESSES 64

static char said[4096];

static int say(void *arg, size_t index, const struct source_location *locations, size_t n)
{
	size_t *calls = arg;

	assert_in_range(n, 1, INLINES_MAX + 1);
	assert_string_equal(locations[n - 1].name, "");
	said[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(said + strlen(said), sizeof(said) - strlen(said),
			 "%s%s%s%s:%" PRIu32, i ? " < " : "", locations[i].name,
			 *locations[i].name ? " " : "", locations[i].file,
			 locations[i].line);
	++*calls;
	return 0;
}

/* What is told of so many bytes behind where main.main begins; "": nothing. */
static const char *said_at(const char *path, uint64_t text, uint64_t distance)
{
	const uint64_t addr = text + MAIN_AT + distance;
	int fd = open_file(path);
	size_t calls = 0;

	said[0] = '\0';
	assert_int_equal(go_lines(fd, &addr, 1, say, &calls), 0);
	assert_int_equal(calls, *said ? 1 : 0);
	close(fd);
	return said;
}

static void tells_lines_and_what_was_inlined(void **state)
{
	static const struct {
		const char *path;
		uint64_t text;
	} programs[] = {
		{ "go", 0x401000 },  { "stripped", 0x401000 }, { "pie", 0x1000 },
		{ "old", 0x401000 }, { "merged", 0x401000 },
	};

	assert_int_equal(shell("gcc -DGO_1_18 -nostdlib -static -s -o old go.S &&"
			       "gcc -DMERGED -nostdlib -static -s -o merged go.S"),
			 0);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const char *path = programs[i].path;
		uint64_t text = programs[i].text;

		assert_string_equal(said_at(path, text, 0), "/src/main.go:10");
		assert_string_equal(said_at(path, text, 3), "/src/main.go:10");
		assert_string_equal(said_at(path, text, 4),
				    "main.deep /src/other.go:7 < "
				    "main.inlined /src/main.go:20 < /src/main.go:11");
		assert_string_equal(said_at(path, text, 12),
				    "main.inlined /src/main.go:20 < /src/main.go:11");
		assert_string_equal(said_at(path, text, 13), "/src/main.go:11");
		assert_string_equal(said_at(path, text, 31), "/src/main.go:11");
		assert_string_equal(said_at(path, text, 32), ""); /* without lines */
		assert_string_equal(said_at(path, text, 0x10000), "");
	}
}

/* What a function inlines has another's line, which its caller is not to be given. */
static void says_nothing_of_what_it_cannot_name(void **state)
{
	assert_int_equal(shell("objcopy --rename-section .noptrdata=.other stripped "
			       "moduleless"),
			 0);
	assert_string_equal(said_at("moduleless", 0x401000, 0), "/src/main.go:10");
	assert_string_equal(said_at("moduleless", 0x401000, 4), "");
	assert_string_equal(said_at("moduleless", 0x401000, 12), "");
}

/* One that was inlined into itself would keep us here. */
static void goes_in_no_circles(void **state)
{
	const uint32_t place = 8;
	size_t n;
	unsigned char *bytes = read_file("stripped", &n);
	uint64_t at = nm_value("", "go", "calls") - 0x400000;
	int fd = bytes_fd(bytes, n);
	const uint64_t addr = 0x401000 + MAIN_AT + 8;
	size_t calls = 0;

	assert_int_equal(pwrite(fd, &place, 4, (off_t)at + 8), 4);
	assert_int_equal(go_lines(fd, &addr, 1, say, &calls), 0);
	assert_int_equal(calls, 0);
	close(fd);
	free(bytes);
}

/* Each byte of the table and of the module in turn is something else. */
static void bears_damage(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff };
	uint64_t addrs[ADDRESSES];
	size_t n, calls = 0;
	unsigned char *bytes = read_file("stripped", &n);
	int fd = bytes_fd(bytes, n);

	for (size_t i = 0; i < ADDRESSES; i++)
		addrs[i] = 0x401000 + 4 * i;
	for (size_t at = TABLE_AT; at < TABLE_AT + DAMAGED; at++)
		for (size_t i = 0; i < sizeof(values); i++) {
			int err;

			assert_int_equal(pwrite(fd, &values[i], 1, (off_t)at), 1);
			err = go_lines(fd, addrs, ADDRESSES, say, &calls);
			assert_true(!err || err == -EBADMSG);
			assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		}
	assert_in_range(calls, 1000, 100000);
	close(fd);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_lines_and_what_was_inlined),
		cmocka_unit_test(says_nothing_of_what_it_cannot_name),
		cmocka_unit_test(goes_in_no_circles),
		cmocka_unit_test(bears_damage),
	};

	return cmocka_run_group_tests(tests, go_setup, files_teardown);
}
