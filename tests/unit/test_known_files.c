// SPDX-License-Identifier: BSD-2-Clause
/* Is a file still the one that it was? Whoever changes a byte of it, and hides that as
 * well as its owner can, makes it another; and what is no list of such files is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "unwind/known_files.h"

#define GRAIN_US 20000 /* as fine as all kernels tell of changes, and more */

/* One that lies here; -1: on no file system whose stamps are used. */
static int new_file(struct file_stamp *ret)
{
	char path[] = "test_known_files.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, "the bytes", 9), 9);
	assert_false(file_stamp_take(fd, FILE_SETTLED_S, ret));
	if (file_stamp_take(fd, 0, ret))
		return fd;
	close(fd);
	return -1;
}

static void write_byte(int fd)
{
	assert_int_equal(pwrite(fd, "x", 1, 3), 1);
}

static void map_and_write(int fd)
{
	char *bytes = mmap(NULL, 9, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(bytes != MAP_FAILED);
	bytes[3]++;
	assert_int_equal(munmap(bytes, 9), 0);
}

/* Of the same size, and as if written when it was. */
static void every_change_shows(void **state)
{
	static void (*const changes[])(int fd) = { write_byte, map_and_write };
	struct file_stamp before, after;
	int fd = new_file(&before);
	struct stat st;

	if (fd < 0)
		skip();
	assert_int_equal(fstat(fd, &st), 0);
	for (int i = 0; i < 6; i++) {
		struct timespec times[2] = { st.st_atim, st.st_mtim };

		assert_true(file_stamp_take(fd, 0, &after));
		assert_memory_equal(&before, &after, sizeof(before));
		usleep(GRAIN_US);
		changes[i % 2](fd);
		assert_int_equal(futimens(fd, times), 0);
		assert_true(file_stamp_take(fd, 0, &after));
		assert_int_equal(after.written_ns, before.written_ns);
		assert_memory_not_equal(&before, &after, sizeof(before));
		before = after;
	}
	close(fd);
}

static void memory_has_no_stamp(void **state)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct file_stamp stamp;

	assert_true(fd >= 0);
	assert_false(file_stamp_take(fd, 0, &stamp));
	close(fd);
}

static struct known_file file_number(uint64_t i)
{
	struct known_file file = { .stamp = { .mount = 1, .inode = i + 1, .bytes = i } };

	file.ends.bytes[0] = (uint8_t)i;
	file.hash.bytes[1] = (uint8_t)(i >> 8);
	return file;
}

static struct elf_info info_number(uint64_t i)
{
	struct elf_info info = { .n_segments = (uint32_t)(i % (SEGMENTS_MAX + 1)),
				 .n_keys = 1 };

	info.key_vaddrs[0] = i;
	for (uint32_t n = 0; n < info.n_segments; n++)
		info.segments[n].vaddr = i + n;
	return info;
}

static void who_is_written_is_read(void **state)
{
	struct known_files known = { .folder = { 77, 7 } }, again = { 0 };
	struct known_file other = file_number(7);
	AUTO_STR bytes = { 0 };

	for (uint64_t i = 0; i < 100; i++) {
		const struct known_file file = file_number(i);
		const struct elf_info info = info_number(i);

		assert_int_equal(known_files_add(&known, &file), 0);
		assert_int_equal(known_files_add_info(&known, &file.stamp, &info), 0);
	}
	assert_int_equal(known_files_write(&known, &bytes), 0);
	assert_int_equal(known_files_read(&again, bytes.s, bytes.n), 0);
	assert_false(again.is_changed);
	assert_memory_equal(&again.folder, &known.folder, sizeof(known.folder));
	for (uint64_t i = 0; i < 100; i++) {
		const struct known_file file = file_number(i);
		const struct known_file *found = known_files_get(&again, &file.stamp);
		const struct elf_info info = info_number(i);

		assert_non_null(found);
		assert_memory_equal(found, &file, sizeof(file));
		assert_memory_equal(known_files_get_info(&again, &file.stamp), &info,
				    sizeof(info));
	}
	other.stamp.written_ns++; /* which the key has nothing of */
	assert_null(known_files_get(&again, &other.stamp));
	assert_null(known_files_get_info(&again, &other.stamp));
	known_files_free(&known);
	known_files_free(&again);
}

/* Each byte of it, among them those that say which boot it was, and each length. */
static void what_is_none_is_refused(void **state)
{
	struct known_files known = { 0 };
	const struct known_file file = file_number(1);
	const struct elf_info info = info_number(2);
	AUTO_STR bytes = { 0 };

	assert_int_equal(known_files_add(&known, &file), 0);
	assert_int_equal(known_files_add_info(&known, &file.stamp, &info), 0);
	assert_int_equal(known_files_write(&known, &bytes), 0);
	known_files_free(&known);
	for (size_t i = 0; i < bytes.n; i++) {
		bytes.s[i] ^= 0x10;
		assert_int_equal(known_files_read(&known, bytes.s, bytes.n), -EBADMSG);
		bytes.s[i] ^= 0x10;
		assert_int_equal(known_files_read(&known, bytes.s, i), -EBADMSG);
		assert_int_equal(known.all.n, 0);
		assert_int_equal(known.infos.n, 0);
	}
	error_clear();
}

/* With the right hash, as if another weft had written it. */
static void what_no_scan_says_is_refused(void **state)
{
	struct known_files known = { 0 };
	const struct known_file file = file_number(1);
	struct elf_info info = info_number(2);
	AUTO_STR bytes = { 0 };

	info.n_keys = FILE_KEYS_MAX + 1;
	assert_int_equal(known_files_add_info(&known, &file.stamp, &info), 0);
	assert_int_equal(known_files_write(&known, &bytes), 0);
	known_files_free(&known);
	assert_int_equal(known_files_read(&known, bytes.s, bytes.n), -EBADMSG);
	known_files_free(&known);
	error_clear();
}

static void there_is_a_limit(void **state)
{
	struct known_files known = { 0 };

	for (uint64_t i = 0; i < 3 * KNOWN_FILES_MAX; i++) {
		const struct known_file file = file_number(i);
		const struct elf_info info = info_number(i);

		assert_int_equal(known_files_add(&known, &file), 0);
		assert_int_equal(known_files_add_info(&known, &file.stamp, &info), 0);
		assert_true(known.all.n <= KNOWN_FILES_MAX);
		assert_true(known.infos.n <= KNOWN_FILES_MAX);
		assert_non_null(known_files_get_info(&known, &file.stamp));
	}
	known_files_free(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_change_shows),
		cmocka_unit_test(memory_has_no_stamp),
		cmocka_unit_test(who_is_written_is_read),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(what_no_scan_says_is_refused),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests_name("known_files", tests, NULL, NULL);
}
