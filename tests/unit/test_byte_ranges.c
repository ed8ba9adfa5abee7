/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a table was made from. The truth comes from the system call: this program
 * has a pread(2) of its own, which sees whatever is read, and can show the parser
 * another file than the next reader will find.
 */
#include "obj/byte_ranges.h"
#include "unwind/unwind_table.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <sys/syscall.h>

#define SEEN_MAX 100000

static struct {
	int fd;
	size_t n;
	struct byte_range ranges[SEEN_MAX];
	unsigned int turn;	    /* of the next read */
	unsigned int lie_from_turn; /* 0: never */
	uint64_t lie_at;	    /* that byte is told inverted from then on */
	int fail_at_turn;
} seen;

ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	ssize_t got = syscall(SYS_pread64, fd, buf, n, offset);
	uint64_t at = seen.lie_at - (uint64_t)offset;

	if (fd != seen.fd || got < 0)
		return got;
	seen.turn++;
	if (seen.n < SEEN_MAX)
		seen.ranges[seen.n++] = (struct byte_range){ (uint64_t)offset, n };
	if (seen.lie_from_turn && seen.turn >= seen.lie_from_turn && at < (size_t)got)
		((uint8_t *)buf)[at] ^= 0xff;
	return got;
}

static struct range_recorder recorder;

static struct unwind_table *build(int fd)
{
	struct unwind_table *table;

	seen.fd = fd;
	seen.n = seen.turn = 0;
	assert_int_equal(unwind_table_build(fd, &recorder, &table), 0);
	seen.fd = -1;
	return table;
}

static bool is_recorded(uint64_t at)
{
	for (uint32_t i = 0; i < recorder.list.n; i++)
		if (at - recorder.list.ranges[i].offset < recorder.list.ranges[i].bytes)
			return true;
	return false;
}

static bool is_same_table(const struct unwind_table *a, const struct unwind_table *b)
{
	uint32_t n = unwind_table_head(a)->n_pages;
	union unwind_page x, y;

	if (n != unwind_table_head(b)->n_pages ||
	    memcmp(unwind_table_stats(a), unwind_table_stats(b),
		   sizeof(struct unwind_stats)) != 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		unwind_table_page(a, i, &x);
		unwind_table_page(b, i, &y);
		if (memcmp(&x, &y, sizeof(x)) != 0)
			return false;
	}
	return true;
}

static const char source_c[] =
	"int g(int);\n"
	"int f(int n) { char a[n]; return n > 1 ? g(n - 1) + f(n - 2) + a[0] : 1; }\n"
	"int h(int n) { return g(n) + f(n); }\n";

/* One that keeps frame pointers, of which the code is read; one of arm64, of which
 * the PLT is; one with .debug_frame alone. */
static const char *const made[] = {
	"gcc -w -O1 -fno-omit-frame-pointer -fPIC -shared",
	"gcc -w -O2 -fomit-frame-pointer -fPIC -shared",
	"gcc -w -O1 -g -fno-asynchronous-unwind-tables -fPIC -shared -nostdlib",
	"aarch64-linux-gnu-gcc -w -O1 -fPIC -shared",
};

#define N_MADE (sizeof(made) / sizeof(*made))

static bool make(size_t i)
{
	char tool[64];

	sscanf(made[i], "%63s", tool);
	write_file("s.c", source_c, strlen(source_c));
	return has_tool(tool) && !shell("%s s.c -o made.so", made[i]);
}

static void records_all_that_is_read(void **state)
{
	for (size_t i = 0; i < N_MADE; i++) {
		struct unwind_table *table;
		int fd;

		if (!make(i))
			continue;
		fd = open_file("made.so");
		table = build(fd);
		assert_true(seen.n > 2);
		for (size_t k = 0; k < seen.n; k++)
			for (uint64_t at = 0; at < seen.ranges[k].bytes; at++)
				assert_true(is_recorded(seen.ranges[k].offset + at));
		unwind_table_free(table);
		close(fd);
	}
}

/* Byte after byte of the file: recorded ones change the hash, others neither the hash
 * nor the table. */
static void says_what_matters(void **state)
{
	unsigned long inside = 0, outside = 0, other_tables = 0;

	for (size_t i = 0; i < N_MADE; i++) {
		struct unwind_table *table, *changed;
		struct hash hash, now;
		uint8_t *bytes;
		size_t n;
		int fd;

		if (!make(i))
			continue;
		bytes = read_file("made.so", &n);
		fd = bytes_fd(bytes, n);
		table = build(fd);
		assert_true(range_recorder_end(&recorder, &hash));
		for (size_t at = 0; at < n; at += is_recorded(at) ? 1 : 5) {
			uint8_t byte = (uint8_t)(bytes[at] ^ (1 << at % 8));

			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
			assert_int_equal(byte_ranges_hash(fd, &recorder.list, &now), 0);
			if (is_recorded(at)) {
				assert_memory_not_equal(&now, &hash, sizeof(now));
				inside++;
			} else {
				struct unwind_table *other;

				assert_memory_equal(&now, &hash, sizeof(now));
				assert_int_equal(unwind_table_build(fd, NULL, &other), 0);
				assert_true(is_same_table(table, other));
				unwind_table_free(other);
				outside++;
			}
			if (is_recorded(at) && !unwind_table_build(fd, NULL, &changed)) {
				other_tables += !is_same_table(table, changed);
				unwind_table_free(changed);
			}
			assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		}
		assert_int_equal(byte_ranges_hash(fd, &recorder.list, &now), 0);
		assert_memory_equal(&now, &hash, sizeof(now));
		unwind_table_free(table);
		close(fd);
		free(bytes);
	}
	print_message("# %lu bytes matter, %lu made another table; %lu do not\n", inside,
		      other_tables, outside);
	assert_true(inside > 1000 && outside > 1000 && other_tables > 100);
}

/* Whoever changes the file while it is parsed comes to no hash of either file that
 * stands for a table of the other. */
static void is_not_come_between(void **state)
{
	struct unwind_table *table, *other;
	struct hash recorded, hash;
	unsigned int turns, differ = 0;
	int fd;

	assert_true(make(1));
	fd = open_file("made.so");
	table = build(fd);
	assert_int_equal(byte_ranges_hash(fd, &recorder.list, &hash), 0);
	assert_true(range_recorder_end(&recorder, &recorded));
	assert_memory_equal(&recorded, &hash, sizeof(hash));
	turns = seen.turn;
	for (size_t k = 0; k < turns; k++) {
		/* the last byte of what the k-th read brings, from that read on */
		const struct byte_range range = seen.ranges[k];

		seen.lie_at = range.offset + range.bytes - 1;
		seen.lie_from_turn = (unsigned int)k + 1;
		seen.fd = fd;
		seen.turn = 0;
		if (!unwind_table_build(fd, &recorder, &other)) {
			seen.fd = -1;
			assert_true(range_recorder_end(&recorder, &recorded));
			assert_int_equal(byte_ranges_hash(fd, &recorder.list, &hash), 0);
			assert_memory_not_equal(&recorded, &hash, sizeof(hash));
			unwind_table_free(other);
			differ++;
		}
		seen.lie_from_turn = 0;
		assert_int_equal(unwind_table_build(fd, NULL, &other), 0);
		assert_true(is_same_table(table, other));
		unwind_table_free(other);
		/* build() filled seen.ranges again, alike */
		unwind_table_free(build(fd));
	}
	assert_true(differ > 1);
	unwind_table_free(table);
	close(fd);
}

static void bounds_its_lists(void **state)
{
	struct byte_ranges list = { .file_bytes = 100, .n = 1 };
	static struct range_recorder many;
	struct hash hash;

	list.ranges[0] = (struct byte_range){ 90, 10 };
	assert_true(byte_ranges_valid(&list, byte_ranges_size(1)));
	assert_false(byte_ranges_valid(&list, byte_ranges_size(1) - 1));
	assert_false(byte_ranges_valid(&list, byte_ranges_size(2)));
	assert_false(byte_ranges_valid(&list, 0));
	list.ranges[0].bytes = 11;
	assert_false(byte_ranges_valid(&list, byte_ranges_size(1)));
	list.ranges[0] = (struct byte_range){ 101, 0 };
	assert_false(byte_ranges_valid(&list, byte_ranges_size(1)));
	list.ranges[0] = (struct byte_range){ UINT64_MAX, 2 };
	assert_false(byte_ranges_valid(&list, byte_ranges_size(1)));
	list.n = BYTE_RANGES_MAX + 1;
	assert_false(byte_ranges_valid(&list, byte_ranges_size(BYTE_RANGES_MAX + 1)));
	/* each fits the file, all together are more than we would read */
	list = (struct byte_ranges){ .file_bytes = 1ULL << 30, .n = 2 };
	list.ranges[0] = list.ranges[1] = (struct byte_range){ 0, 300ULL << 20 };
	assert_false(byte_ranges_valid(&list, byte_ranges_size(2)));
	list.n = 1;
	assert_true(byte_ranges_valid(&list, byte_ranges_size(1)));

	range_recorder_begin(&many, 1 << 20);
	for (uint64_t i = 0; i < BYTE_RANGES_MAX; i++)
		range_recorder_add(&many, 2 * i, "x", 1);
	assert_true(range_recorder_end(&many, &hash));
	range_recorder_begin(&many, 1 << 20);
	for (uint64_t i = 0; i <= BYTE_RANGES_MAX; i++)
		range_recorder_add(&many, 2 * i, "x", 1);
	assert_false(range_recorder_end(&many, &hash));
}

static void hashes_no_other_size(void **state)
{
	int fd = bytes_fd("0123456789", 10);
	struct byte_ranges list;
	struct hash hash;

	byte_ranges_of_ends(&list, 10);
	assert_int_equal(byte_ranges_hash(fd, &list, &hash), 0);
	assert_int_equal(ftruncate(fd, 9), 0);
	assert_true(byte_ranges_hash(fd, &list, &hash) < 0);
	assert_int_equal(ftruncate(fd, 11), 0);
	assert_true(byte_ranges_hash(fd, &list, &hash) < 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_all_that_is_read),
		cmocka_unit_test(says_what_matters),
		cmocka_unit_test(is_not_come_between),
		cmocka_unit_test(bounds_its_lists),
		cmocka_unit_test(hashes_no_other_size),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
