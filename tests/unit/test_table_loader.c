/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache of unwind tables: a second start makes none; and whatever somebody did
 * to the files or to the entries, a table is the one of the file at hand.
 */
#include "cached.h"

#include "unwind/entry.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Functions that are all different, or they would be told of in one row. */
static const char many_s[] = ".set frame, 8\n.rept 40000\n.cfi_startproc\n"
			     "push %rbx\n.cfi_def_cfa_offset frame + 8\n.balign 8\n"
			     "pop %rbx\n.cfi_def_cfa_offset frame\nret\n"
			     ".cfi_endproc\n.balign 8\n.endr\n";

static int setup(void **state)
{
	if (cached_setup(state))
		return -1;
	return shell("echo 'int data = 1;' >data.c && " /* no code, nothing to tell */
		     "gcc -w -shared -fPIC -nostdlib data.c -o bare.so");
}

static void makes_nothing_twice(void **state)
{
	const char *const paths[] = { "one.so", "two.so", "/proc/self/exe" };
	struct looked_up all;

	for (int start = 0; start < 3; start++)
		for (int i = 0; i < 3; i++) {
			look_up("cache", paths[i], &all);
			assert_true(is_table_of(&all, paths[i]));
			EXPECT(&all, !start, !!start, !start);
			looked_up_free(&all);
		}
}

/* One that has not changed for long is hashed once: then it is known, until its entry is
 * gone or its inode says that it is another. */
static void knows_who_has_not_changed(void **state)
{
	const char *const path = "/proc/self/exe";
	struct file_stamp stamp;
	struct looked_up all;
	char entry[512];
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	bool is_settled = file_stamp_take(fd, FILE_SETTLED_S, &stamp);

	for (int start = 0; start < 4; start++) {
		look_up_fd("cache", dup(fd), &all);
		assert_true(is_table_of(&all, "/bin/sh"));
		EXPECT(&all, !start, !!start, !start);
		assert_int_equal(all.counts.cache.known, is_settled && start > 1);
		looked_up_free(&all);
	}
	look_up("cache", path, &all); /* built a moment ago, or of no such file system */
	looked_up_free(&all);
	if (is_settled)
		assert_int_equal(files_in("cache", entry), 2);
	assert_int_equal(shell("find cache -type f -size +3k -delete"), 0);
	look_up_fd("cache", fd, &all);
	assert_true(is_table_of(&all, "/bin/sh"));
	EXPECT(&all, 1, 0, 1);
	assert_int_equal(all.counts.cache.misses, 1);
	looked_up_free(&all);
	if (!is_settled)
		skip();
}

static void makes_each_anew_without_it(void **state)
{
	struct looked_up all;

	for (int start = 0; start < 2; start++) {
		look_up(CACHE_NONE, "one.so", &all);
		assert_true(is_table_of(&all, "one.so"));
		EXPECT(&all, 1, 0, 0);
		looked_up_free(&all);
	}
	assert_true(access(CACHE_NONE, F_OK) < 0);
}

static void keeps_nothing_of_files_without_tables(void **state)
{
	struct looked_up all;
	char path[512];

	look_up("cache", "bare.so", &all);
	assert_int_equal(all.err, -ENODATA);
	look_up("cache", "s.c", &all);
	assert_int_equal(all.err, -ENOEXEC);
	look_up_fd("cache", bytes_fd("", 0), &all);
	assert_int_equal(all.err, -ENOEXEC);
	look_up_fd("cache", bytes_fd("x", 1), &all);
	assert_int_equal(all.err, -ENOEXEC);
	assert_int_equal(files_in("cache", path), 0);
}

/* Where the section .eh_frame is, by readelf. */
static void find_eh_frame(const char *path, size_t *ret_at, size_t *ret_n)
{
	FILE *f;

	assert_int_equal(shell("readelf -SW %s | sed -n 's/.* \\.eh_frame *[A-Z0-9_]* "
			       "*[0-9a-f]* \\([0-9a-f]*\\) \\([0-9a-f]*\\).*/\\1 \\2/p' "
			       ">section",
			       path),
			 0);
	f = fopen("section", "r");
	assert_int_equal(fscanf(f, "%zx %zx", ret_at, ret_n), 2);
	fclose(f);
}

/* Other bytes in the same file, of the same size and time. */
static void change(const char *path, size_t at, uint8_t byte)
{
	struct stat st;
	int fd = open(path, O_WRONLY);

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	assert_int_equal(futimens(fd, (struct timespec[2]){ st.st_atim, st.st_mtim }), 0);
	close(fd);
}

/* Each byte of its call frame information, changed in place behind the cache's
 * back, back and forth. */
static void is_not_poisoned_in_place(void **state)
{
	unsigned int others = 0;
	uint8_t *bytes;
	size_t at, n, bytes_n;
	struct looked_up all;

	assert_int_equal(shell("cat one.so /bin/true >file.so"), 0); /* long: its ends
								       * lie elsewhere */
	find_eh_frame("file.so", &at, &n);
	bytes = read_file("file.so", &bytes_n);
	assert_true(at > 4096 && bytes_n - at - n > 4096 && n > 100);
	look_up("cache", "file.so", &all);
	EXPECT(&all, 1, 0, 1);
	looked_up_free(&all);
	for (size_t i = 40; i < n; i += 7) {
		change("file.so", at + i, (uint8_t)(bytes[at + i] ^ 0x41));
		look_up("cache", "file.so", &all);
		EXPECT(&all, !all.err, 0, !all.err);
		assert_int_equal(all.counts.cache.others, 1);
		if (!all.err)
			assert_true(is_table_of(&all, "file.so"));
		others++;
		looked_up_free(&all);
		change("file.so", at + i, bytes[at + i]);
		look_up("cache", "file.so", &all);
		assert_true(is_table_of(&all, "file.so"));
		looked_up_free(&all);
	}
	assert_true(others > 10);
	free(bytes);
}

/* A file that begins and ends as another, and says other things between. */
static void is_not_poisoned_by_a_double(void **state)
{
	struct looked_up all;
	size_t at, n;

	assert_int_equal(shell("cat one.so /bin/true >file.so && cp file.so evil.so"), 0);
	find_eh_frame("file.so", &at, &n);
	for (size_t i = at + 40; i < at + n; i++) /* DW_CFA_nop */
		change("evil.so", i, 0);
	look_up("cache", "evil.so", &all);
	assert_int_equal(all.counts.cache.misses, 1);
	looked_up_free(&all);
	for (int i = 0; i < 4; i++) {
		const char *path = i % 2 ? "evil.so" : "file.so";

		look_up("cache", path, &all);
		if (!all.err)
			assert_true(is_table_of(&all, path));
		looked_up_free(&all);
	}
}

/* The entry's bytes, one after the other. */
static void survives_each_byte(void **state)
{
	unsigned long corrupt = 0;
	struct looked_up all;
	char path[512];
	uint8_t *bytes;
	size_t n;

	look_up("cache", "one.so", &all);
	looked_up_free(&all);
	assert_int_equal(files_in("cache", path), 1);
	bytes = read_file(path, &n);
	for (size_t at = 0; at < n; at++) {
		uint8_t byte = bytes[at];

		if (at % UNWIND_PAGE_BYTES > 400 && n - at > 400 && at % 13)
			continue;
		bytes[at] ^= (uint8_t)(1 << at % 8);
		write_file(path, bytes, n);
		look_up("cache", "one.so", &all);
		assert_true(is_table_of(&all, "one.so"));
		corrupt += all.counts.cache.corrupt + all.counts.cache.others;
		EXPECT(&all, 1, 0, 1); /* and it is whole again */
		looked_up_free(&all);
		bytes[at] = byte;
	}
	look_up("cache", "one.so", &all);
	EXPECT(&all, 0, 1, 0);
	looked_up_free(&all);
	assert_true(corrupt > 400);
	free(bytes);
}

/* Found out when most of its pages have been handed on: they come anew. */
static void survives_a_bad_last_page(void **state)
{
	struct looked_up all;
	char path[512];
	uint8_t *bytes;
	size_t n, at;

#ifndef __x86_64__
	skip(); /* its functions are x86-64's */
#endif
	write_file("many.s", many_s, strlen(many_s));
	assert_int_equal(shell("gcc -nostdlib -shared -o many.so many.s"), 0);
	look_up("cache", "many.so", &all);
	assert_true(all.n > 2 * ENTRY_PAGES_AT_ONCE);
	at = (size_t)(all.n - 1) * UNWIND_PAGE_BYTES;
	looked_up_free(&all);
	assert_int_equal(files_in("cache", path), 1);
	bytes = read_file(path, &n);
	for (int start = 0; start < 3; start++) {
		bytes[at] ^= 1;
		write_file(path, bytes, n);
		look_up("cache", "many.so", &all);
		assert_true(is_table_of(&all, "many.so"));
		EXPECT(&all, !(start % 2), start % 2, !(start % 2));
		assert_int_equal(all.counts.cache.corrupt, !(start % 2));
		looked_up_free(&all);
	}
	free(bytes);
}

static void survives_each_length(void **state)
{
	struct looked_up all;
	char path[512];
	uint8_t *bytes;
	size_t n;

	look_up("cache", "one.so", &all);
	looked_up_free(&all);
	files_in("cache", path);
	bytes = read_file(path, &n);
	bytes = realloc(bytes, n + 1);
	for (size_t some = 0; some <= n + 1;
	     some += some < n - 1 && some > 300 ? 17 : 1) {
		write_file(path, bytes, some);
		look_up("cache", "one.so", &all);
		assert_true(is_table_of(&all, "one.so"));
		EXPECT(&all, some != n, some == n, some != n);
		looked_up_free(&all);
	}
	free(bytes);
}

/* What is not ours is left, and costs a table. */
static void corrupt_and_look(const char *command)
{
	struct looked_up all;
	char path[512] = "";

	cached_begin(NULL);
	look_up("cache", "one.so", &all);
	looked_up_free(&all);
	files_in("cache", path);
	assert_int_equal(shell(command, path, path, path), 0);
	look_up("cache", "one.so", &all);
	assert_true(is_table_of(&all, "one.so"));
	EXPECT(&all, 1, 0, 1);
	assert_int_equal(all.counts.cache.corrupt, 1);
	looked_up_free(&all);
	look_up("cache", "one.so", &all);
	EXPECT(&all, 0, 1, 0);
	looked_up_free(&all);
}

static void believes_nobody_else(void **state)
{
	corrupt_and_look("chmod 666 %s");
	corrupt_and_look("rm %s && mkfifo %s");
	corrupt_and_look("mv %s /tmp/weft-test-moved && ln -s /tmp/weft-test-moved %s");
	corrupt_and_look("truncate -s 100M %s");
	if (!geteuid())
		corrupt_and_look("chown 65534 %s");
	unlink("/tmp/weft-test-moved");
}

/* Three starts at once, over files that take each other's entry. */
static void shares_its_folder(void **state)
{
	pid_t pids[3];
	size_t at, n;
	int status;

	assert_int_equal(shell("cat one.so /bin/true >file.so && cp file.so evil.so"), 0);
	find_eh_frame("file.so", &at, &n);
	change("evil.so", at + n - 5, 0x0e);
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			for (int k = 0; k < 40; k++) {
				const char *path = (i + k) % 2 ? "evil.so" : "file.so";
				struct looked_up all;

				look_up("cache", path, &all);
				if (!all.err && !is_table_of(&all, path))
					_exit(1);
				if (all.counts.cache.corrupt + all.counts.cache.failed)
					_exit(2);
				looked_up_free(&all);
			}
			_exit(0);
		}
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(makes_nothing_twice, cached_begin),
		cmocka_unit_test_setup(knows_who_has_not_changed, cached_begin),
		cmocka_unit_test_setup(makes_each_anew_without_it, cached_begin),
		cmocka_unit_test_setup(keeps_nothing_of_files_without_tables,
				       cached_begin),
		cmocka_unit_test_setup(is_not_poisoned_in_place, cached_begin),
		cmocka_unit_test_setup(is_not_poisoned_by_a_double, cached_begin),
		cmocka_unit_test_setup(survives_each_byte, cached_begin),
		cmocka_unit_test_setup(survives_each_length, cached_begin),
		cmocka_unit_test_setup(survives_a_bad_last_page, cached_begin),
		cmocka_unit_test_setup(believes_nobody_else, cached_begin),
		cmocka_unit_test_setup(shares_its_folder, cached_begin),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
