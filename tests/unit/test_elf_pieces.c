// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_pieces.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OFFSET	1000
#define OVERLAP 100

static unsigned char bytes[OFFSET + 3 * ELF_PIECE_MAX];
static struct elf_file file; /* these bytes */
static struct elf_pieces *pieces;

/* This program, and behind it what is no byte like the one before. */
static int open_bytes(void **state)
{
	AUTO_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i % 251);
	return fd < 0 || pread(fd, bytes, sizeof(bytes), 0) < 0 ||
	       elf_file_open_memory(&file, bytes, sizeof(bytes)) ||
	       elf_pieces_new(&pieces, &file);
}

static int close_bytes(void **state)
{
	elf_pieces_free(pieces);
	elf_file_close(&file);
	return 0;
}

/* How many pieces there are, each of which is checked, and all of them make the range. */
static int count(uint64_t size, size_t overlap)
{
	uint64_t end = 0;
	int n = 0, more;

	elf_pieces_begin(pieces, OFFSET, size);
	while ((more = elf_pieces_next(pieces, overlap)) > 0) {
		assert_int_equal(pieces->at, n ? end - overlap : 0);
		assert_memory_equal(pieces->bytes, bytes + OFFSET + pieces->at,
				    pieces->n);
		assert_true(pieces->at + pieces->n > end);
		end = pieces->at + pieces->n;
		n++;
	}
	assert_int_equal(more, 0);
	assert_int_equal(end, size);
	return n;
}

static void test_all_of_a_range(void **state)
{
	assert_int_equal(count(0, 0), 0);
	assert_int_equal(count(0, OVERLAP), 0);
	assert_int_equal(count(1, 0), 1);
	assert_int_equal(count(OVERLAP - 1, OVERLAP), 1);
	assert_int_equal(count(OVERLAP, OVERLAP), 1);
	assert_int_equal(count(ELF_PIECE_MAX, 0), 1);
	assert_int_equal(count(ELF_PIECE_MAX, OVERLAP), 1);
	assert_int_equal(count(ELF_PIECE_MAX + 1, 0), 2);
	assert_int_equal(count(ELF_PIECE_MAX + 1, OVERLAP), 2);
	assert_int_equal(count(3 * ELF_PIECE_MAX, 0), 3);
	assert_int_equal(count(3 * ELF_PIECE_MAX, OVERLAP), 4);
}

static void test_what_is_not_there(void **state)
{
	elf_pieces_begin(pieces, file.bytes - 1, 2);
	assert_int_equal(elf_pieces_next(pieces, 0), -EBADMSG);
	elf_pieces_begin(pieces, UINT64_MAX, 2);
	assert_int_equal(elf_pieces_next(pieces, 0), -EBADMSG);
	error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_a_range),
		cmocka_unit_test(test_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, open_bytes, close_bytes);
}
