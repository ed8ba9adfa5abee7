/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names out of Go's table of functions: what its entries say, in a stripped program and
 * in one whose table does not tell where the code begins; and damaged tables.
 */
#include "go_program.h"
#include "named.h"

#include "obj/go_table.h"

#include <errno.h>

/* Of what lies so far behind the beginning of the code, which begins a page. */
static const char *name_at(const char *path, uint64_t distance)
{
	static char name[NAMED_BYTES];
	int fd = open_file(path);

	strcpy(name, name_by(go_names, fd, 0x1000 + distance));
	close(fd);
	return name;
}

static void names_functions(void **state)
{
	static const char *const paths[] = { "go", "stripped", "pie" };

	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(name_at(paths[i], 0), "_rt0_amd64_linux");
		assert_string_equal(name_at(paths[i], 0x1f), "_rt0_amd64_linux");
		assert_string_equal(name_at(paths[i], 0x20), "main.main");
		assert_string_equal(name_at(paths[i], 0x44), "main.leaf[go.shape.int]");
		assert_string_equal(name_at(paths[i], 0x17f), "main.asm");
		assert_string_equal(name_at(paths[i], 0x1e0), "");
		assert_string_equal(name_at(paths[i], 0x1000), ""); /* the table itself */
	}
}

static void tells_where_a_function_starts(void **state)
{
	const uint64_t addr = 0x1025;
	int fd = open_file("stripped");
	struct named *named = named_by(go_names, fd, &addr, 1);

	assert_int_equal(named->items[0].start, 0x1020);
	free(named);
	close(fd);
}

static void other_programs_have_none(void **state)
{
	int fd = open_file("/proc/self/exe");

	assert_string_equal(name_by(go_names, fd, 0x1000), "");
	close(fd);
}

static int ignore(void *arg, size_t index, const char *name, uint64_t start)
{
	return 0;
}

/* Each byte of the table in turn is something else, or the last that there is. */
static void bears_damage(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff };
	uint64_t addrs[64];
	size_t n;
	unsigned char *bytes = read_file("stripped", &n);
	int fd = bytes_fd(bytes, n);

	for (size_t i = 0; i < 64; i++)
		addrs[i] = 0x1000 + 4 * i;
	for (size_t at = 0x2000; at < 0x2400; at++)
		for (size_t i = 0; i < sizeof(values); i++) {
			int err;

			assert_int_equal(pwrite(fd, &values[i], 1, (off_t)at), 1);
			err = go_names(fd, addrs, 64, ignore, NULL);
			assert_true(!err || err == -EBADMSG);
			assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		}
	close(fd);
	free(bytes);
}

/* The text begins elsewhere, or functions lie outside of it. */
static void refuses_what_is_no_code(void **state)
{
	static const uint64_t texts[] = { 1, 0x402000, 0x401001, -0x1000ULL };
	const uint64_t addr = 0x1000;
	size_t n;
	unsigned char *bytes = read_file("stripped", &n);
	int fd = bytes_fd(bytes, n);

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(pwrite(fd, &texts[i], 8, 0x2000 + 24), 8);
		assert_int_equal(go_names(fd, &addr, 1, ignore, NULL), -EBADMSG);
	}
	close(fd);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions),
		cmocka_unit_test(tells_where_a_function_starts),
		cmocka_unit_test(other_programs_have_none),
		cmocka_unit_test(bears_damage),
		cmocka_unit_test(refuses_what_is_no_code),
	};

	return cmocka_run_group_tests(tests, go_setup, files_teardown);
}
