/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has mapped, by the records of it: where mappings overlap, after a fork,
 * of a pid that is used again, and of files that have gone. */
#include "proc/process.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct module_table *modules;
static struct process_table *table;

static int begin(void **state)
{
	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(process_table_new(&table, modules, NULL), 0);
	return 0;
}

static int end(void **state)
{
	process_table_free(table);
	module_table_free(modules);
	return 0;
}

static void hear(enum side_kind kind, uint32_t pid, uint64_t time_ns)
{
	const struct side_event event = {
		.kind = kind, .time_ns = time_ns, .pid = pid, .tid = pid, .ppid = 1
	};

	assert_int_equal(process_apply(table, &event), 0);
}

static void map(uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t bytes,
		const char *path)
{
	struct side_event event = { .kind = SIDE_MMAP,
				    .time_ns = time_ns,
				    .pid = pid,
				    .tid = pid,
				    .start = start,
				    .bytes = bytes,
				    .pgoff = start * 16,
				    .ino = (uint64_t)path[1] };

	strcpy(event.path, path);
	assert_int_equal(process_apply(table, &event), 0);
}

/* "a 1000-2000 +10000": files' names, from where to where, and which of their bytes. */
static void expect_maps(uint32_t pid, const char *expected)
{
	AUTO_STR text = { 0 };
	size_t n;
	const struct mapping *maps = process_mappings(process_get(table, pid), &n);

	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%s%s %llx-%llx +%llx", i ? ", " : "",
			 module_get(modules, maps[i].module)->path + 1,
			 (unsigned long long)maps[i].start,
			 (unsigned long long)maps[i].end,
			 (unsigned long long)maps[i].pgoff);
	assert_string_equal(text.s ? text.s : "", expected);
}

/* Of one file at one place: its bytes are those at 0x20000 less. */
static void map_text(uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t bytes,
		     const char *path)
{
	struct side_event event = { .kind = SIDE_MMAP,
				    .time_ns = time_ns,
				    .pid = pid,
				    .tid = pid,
				    .start = start,
				    .bytes = bytes,
				    .pgoff = start - 0x20000,
				    .ino = (uint64_t)path[1] };

	strcpy(event.path, path);
	assert_int_equal(process_apply(table, &event), 0);
}

/* A copy of a file's text in its place is the file's; by the kernel's words the file was
 * there before, by /proc's what lies behind comes last. */
static void a_copy_in_its_place_is_the_file_s(void **state)
{
	map_text(7, 10, 0x24000, 0x8000, "/a");
	map(7, 11, 0x26000, 0x2000, "//anon");
	expect_maps(7, "a 24000-26000 +4000, a 26000-28000 +6000, a 28000-2c000 +8000");
	map_text(8, 10, 0x24000, 0x2000, "/a");
	map(8, 10, 0x26000, 0x2000, "//anon");
	expect_maps(8, "a 24000-26000 +4000, jit] 26000-28000 +260000");
	map_text(8, 10, 0x28000, 0x4000, "/a");
	expect_maps(8, "a 24000-26000 +4000, a 26000-28000 +6000, a 28000-2c000 +8000");
}

/* Between two files, at a file's end, and where the file goes on otherwise it is not. */
static void other_memory_is_no_copy(void **state)
{
	map_text(7, 10, 0x24000, 0x2000, "/a");
	map(7, 10, 0x26000, 0x2000, "//anon");
	map_text(7, 10, 0x28000, 0x2000, "/b");
	expect_maps(7, "a 24000-26000 +4000, jit] 26000-28000 +260000, "
		       "b 28000-2a000 +8000");
	map_text(8, 10, 0x24000, 0x2000, "/a");
	map(8, 10, 0x26000, 0x1000, "//anon");
	map_text(8, 10, 0x28000, 0x2000, "/a");
	map(8, 10, 0x2a000, 0x2000, "//anon");
	map(8, 10, 0x2c000, 0x2000, "/a");
	expect_maps(8, "a 24000-26000 +4000, jit] 26000-27000 +260000, "
		       "a 28000-2a000 +8000, jit] 2a000-2c000 +2a0000, "
		       "a 2c000-2e000 +2c0000");
}

/* What is left of a mapping that another one splits is the same bytes as before. */
static void what_is_split_keeps_its_bytes(void **state)
{
	map(7, 10, 0x1000, 0x4000, "/a");
	map(7, 11, 0x2000, 0x1000, "/b");
	expect_maps(7, "a 1000-2000 +10000, b 2000-3000 +20000, a 3000-5000 +12000");
	map(7, 12, 0x1800, 0x2000, "/c");
	expect_maps(7, "a 1000-1800 +10000, c 1800-3800 +18000, a 3800-5000 +12800");
	map(7, 13, 0x1000, 0x4000, "/d");
	expect_maps(7, "d 1000-5000 +10000");
}

/* After a fork each maps for itself. */
static void what_one_maps_is_not_the_others(void **state)
{
	map(1, 10, 0x1000, 0x1000, "/a");
	hear(SIDE_FORK, 7, 11);
	expect_maps(7, "a 1000-2000 +10000");
	map(7, 12, 0x2000, 0x1000, "/b");
	expect_maps(1, "a 1000-2000 +10000");
	expect_maps(7, "a 1000-2000 +10000, b 2000-3000 +20000");
	hear(SIDE_FORK, 8, 13);
	map(1, 14, 0x1000, 0x1000, "/c");
	expect_maps(1, "c 1000-2000 +10000");
	expect_maps(8, "a 1000-2000 +10000");
	expect_maps(7, "a 1000-2000 +10000, b 2000-3000 +20000");
}

/* A record of who had the pid before comes late, from another CPU. */
static void late_records_are_anothers(void **state)
{
	map(7, 10, 0x1000, 0x1000, "/a");
	hear(SIDE_EXEC, 7, 20);
	expect_maps(7, "");
	map(7, 21, 0x5000, 0x1000, "/b");
	map(7, 19, 0x1000, 0x1000, "/c");
	hear(SIDE_EXIT, 7, 19);
	expect_maps(7, "b 5000-6000 +50000");
	assert_int_equal(process_get(table, 7)->ended_ns, 0);
}

#define PATH_AT 72 /* in a record: its header, and what PERF_RECORD_MMAP2 has before it */

/* The path read from a mapping's record as the kernel writes it. */
static void expect_path(const char *written, const char *expected)
{
	struct side_event event = { .kind = SIDE_MMAP, .pid = 7 }, read;
	size_t last = strlen(written) - 1;
	AUTO_STR record = { 0 };

	strcpy(event.path, written);
	event.path[last] = '?';
	side_event_write(&record, &event);
	assert_int_equal(record.s[PATH_AT + last], '?');
	record.s[PATH_AT + last] = written[last];
	assert_int_equal(side_event_read(&read, record.s, record.n), 0);
	assert_string_equal(read.path, expected);
}

/* The kernel says so of a file that was deleted; whoever runs it runs the same file. */
static void deleted_files_go_by_their_names(void **state)
{
	expect_path("/a (deleted)", "/a");
	expect_path("/a", "/a");
	expect_path("/a(deleted)", "/a(deleted)");
	expect_path("/(deleted)", "/(deleted)");
	expect_path("/a (deleted) (deleted)", "/a (deleted)");
}

/* A file is another where its code may be written to, and only there: whoever maps a
 * library so is not asked of what others run. */
static void who_may_write_to_code_runs_another_file(void **state)
{
	struct side_event event = { .kind = SIDE_MMAP,
				    .time_ns = 10,
				    .start = 0x1000,
				    .bytes = 0x1000,
				    .ino = 1,
				    .path = "/a" };

	for (uint32_t pid = 7; pid < 9; pid++) {
		const struct mapping *map;

		event.pid = event.tid = pid;
		event.is_writable = pid == 8;
		assert_int_equal(process_apply(table, &event), 0);
		map = process_mapping(process_get(table, pid), 0x1000);
		assert_int_equal(module_get(modules, map->module)->is_writable,
				 event.is_writable);
	}
}

static const char *path_at(uint32_t pid, uint64_t addr)
{
	const struct mapping *map = process_mapping(process_get(table, pid), addr);

	assert_non_null(map);
	return module_get(modules, map->module)->path;
}

/* What lies in a mount that is nowhere (crun runs itself so) has no path. The program
 * goes by its process's name, whatever that is later. */
static void what_is_mounted_nowhere_has_a_name(void **state)
{
	struct side_event event = {
		.kind = SIDE_EXEC, .time_ns = 10, .pid = 7, .tid = 7
	};

	strcpy(event.comm, "crun");
	assert_int_equal(process_apply(table, &event), 0);
	event = (struct side_event){ .kind = SIDE_MMAP,
				     .time_ns = 10,
				     .pid = 7,
				     .tid = 7,
				     .start = 0x1000,
				     .bytes = 0x1000,
				     .ino = 5,
				     .path = "/" };
	assert_int_equal(process_apply(table, &event), 0);
	map(7, 11, 0x5000, 0x1000, "/ld.so");
	event.start = 0x8000;
	event.time_ns = 12;
	event.ino = 6; /* a library */
	assert_int_equal(process_apply(table, &event), 0);
	hear(SIDE_RENAME, 7, 13);
	event.start = 0x3000; /* more of the program */
	event.time_ns = 14;
	event.ino = 5;
	assert_int_equal(process_apply(table, &event), 0);
	assert_string_equal(path_at(7, 0x1000), "crun");
	assert_string_equal(path_at(7, 0x3000), "crun");
	assert_string_equal(path_at(7, 0x8000), "[detached]");
	event.pid = event.tid = 8; /* whose name is not known */
	assert_int_equal(process_apply(table, &event), 0);
	assert_string_equal(path_at(8, 0x3000), "[detached]");
}

/* Into what is mapped twice, to write to it and to run it. */
static void what_is_shared_may_be_generated(void **state)
{
	static const struct {
		const char *path;
		bool is_shared, is_deleted, is_generated;
	} cases[] = {
		{ "/memfd:jit", true, true, true },
		{ "/memfd:program", false, true, false },
		{ "/root/orcexec.Ab3", true, true, true },
		{ "/tmp/#1329", true, true, true }, /* of O_TMPFILE */
		{ "/tmp/ffiQx1YaZ", true, true, true },
		{ "/usr/lib/old.so", false, true, false },
		{ "/usr/lib/lib.so", true, false, false },
		{ "/usr/lib/lib.so", false, false, false },
		{ "/dev/shm/doublemapper_7", true, false, true },
		{ "/dev/shm/lib.so", false, false, false },
		{ "/opt/dev/shm/lib.so", true, false, false },
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct side_event event = { .kind = SIDE_MMAP,
					    .time_ns = 10,
					    .pid = 7,
					    .tid = 7,
					    .start = 0x1000 * (i + 1),
					    .bytes = 0x1000,
					    .ino = 1,
					    .is_shared = cases[i].is_shared,
					    .is_deleted = cases[i].is_deleted };
		const struct mapping *map;

		strcpy(event.path, cases[i].path);
		assert_int_equal(process_apply(table, &event), 0);
		map = process_mapping(process_get(table, 7), event.start);
		assert_int_equal(module_get(modules, map->module)->kind == MODULE_JIT,
				 cases[i].is_generated);
	}
}

/* What was read of /proc, or of a record, is the same to whoever reads it next. */
static void what_is_written_reads_the_same(void **state)
{
	static const char *const paths[] = { "/a", "/a (deleted)",
					     "/a (deleted) (deleted)", " (deleted)", "" };
	struct side_event event = { .kind = SIDE_MMAP, .pid = 7 }, read;
	size_t n = sizeof(event.path) - 1;
	AUTO_STR record = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		strcpy(event.path, paths[i]);
		event.is_shared = i & 1;
		event.is_writable = i & 2;
		event.is_deleted = i % 3 == 0 || strstr(paths[i], "(deleted)");
		str_clear(&record);
		side_event_write(&record, &event);
		assert_int_equal(side_event_read(&read, record.s, record.n), 0);
		assert_string_equal(read.path, paths[i]);
		assert_int_equal(read.is_shared, event.is_shared);
		assert_int_equal(read.is_writable, event.is_writable);
		assert_int_equal(read.is_deleted, event.is_deleted);
	}
	memset(event.path, 'x', n); /* the longest one */
	strcpy(event.path + n - strlen(" (deleted)"), " (deleted)");
	str_clear(&record);
	side_event_write(&record, &event);
	assert_int_equal(side_event_read(&read, record.s, record.n), 0);
	assert_string_equal(read.path, event.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_in_its_place_is_the_file_s, begin,
						end),
		cmocka_unit_test_setup_teardown(other_memory_is_no_copy, begin, end),
		cmocka_unit_test_setup_teardown(what_is_shared_may_be_generated, begin,
						end),
		cmocka_unit_test_setup_teardown(who_may_write_to_code_runs_another_file,
						begin, end),
		cmocka_unit_test_setup_teardown(what_is_mounted_nowhere_has_a_name, begin,
						end),
		cmocka_unit_test_setup_teardown(what_is_split_keeps_its_bytes, begin,
						end),
		cmocka_unit_test_setup_teardown(what_one_maps_is_not_the_others, begin,
						end),
		cmocka_unit_test_setup_teardown(late_records_are_anothers, begin, end),
		cmocka_unit_test(deleted_files_go_by_their_names),
		cmocka_unit_test(what_is_written_reads_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
