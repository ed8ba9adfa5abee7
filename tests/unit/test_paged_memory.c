// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that holds parts of a file only as far as somebody looks: it reads as if all of
 * it were there, packed or not and in any order; holds no more than it may; and says so
 * when what it shows is not what was packed.
 */
#include "obj/paged_memory.h"

#include "obj/inflater.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <zlib.h>

#define SIZE   (6u << 20)
#define KEEP   (4 * PAGED_WINDOW)
#define OFFSET 77 /* of the part in its file */
#define LOOKS  2000

struct world {
	unsigned char *plain, *packed;
	unsigned long n; /* packed bytes */
	uint64_t state;
};

static uint64_t draw(struct world *w)
{
	w->state = w->state * 6364136223846793005u + 1442695040888963407u;
	return w->state >> 33;
}

/* Words that come again, near and far, so that what is packed refers back. */
static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->plain = malloc(SIZE);
	w->packed = malloc(compressBound(SIZE));
	w->n = compressBound(SIZE);
	for (size_t i = 0; i < SIZE; i += 8) {
		uint64_t word = draw(w) & 0xffff;

		if (i > 40000 && draw(w) & 1)
			memcpy(&word, w->plain + i - 8 - draw(w) % 30000, sizeof(word));
		memcpy(w->plain + i, &word, sizeof(word));
	}
	*state = w;
	return compress2(w->packed, &w->n, w->plain, SIZE, 6) == Z_OK ? files_setup(state)
								      : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->plain);
	free(w->packed);
	free(w);
	return files_teardown(state);
}

static int file_of(const unsigned char *bytes, size_t n)
{
	static const char before[OFFSET];
	int fd = open("part", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, before, OFFSET), OFFSET);
	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

static struct paged_part part_of(const struct world *w, bool is_packed)
{
	return (struct paged_part){ .offset = OFFSET,
				    .n = is_packed ? w->n : SIZE,
				    .size = SIZE,
				    .keep = KEEP,
				    .is_packed = is_packed };
}

/* Bytes that the kernel has given memory. */
static size_t held(const struct paged_memory *memory)
{
	size_t bytes, n = 0, pages, page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = paged_memory_start(memory, &bytes);
	unsigned char *there;

	pages = bytes / page;
	there = malloc(pages);
	assert_int_equal(mincore(start, bytes, there), 0);
	for (size_t i = 0; i < pages; i++)
		n += there[i] & 1;
	free(there);
	return n * page;
}

static void check_looks(struct world *w, bool is_packed)
{
	int fd = is_packed ? file_of(w->packed, w->n) : file_of(w->plain, SIZE);
	struct paged_part part = part_of(w, is_packed);
	struct paged_memory *memory;
	const unsigned char *start;
	size_t bytes;

	assert_int_equal(paged_memory_new(&memory, fd, 100, &part, 1), 0);
	start = paged_memory_start(memory, &bytes);
	memset(paged_memory_start(memory, &bytes), 1, 100);
	start += part.at;
	for (int i = 0; i < LOOKS / 10; i++) {
		size_t at = draw(w) % SIZE, n = draw(w) % (2 * PAGED_WINDOW);

		n = n < SIZE - at ? n : SIZE - at;
		assert_memory_equal(start + at, w->plain + at, n);
		/* what passed by, what was gone back for, and the head */
		assert_in_range(held(memory), 1, 2 * KEEP + PAGED_WINDOW);
	}
	for (size_t at = SIZE; at; at -= 1024) /* backward */
		assert_int_equal(start[at - 1], w->plain[at - 1]);
	assert_memory_equal(start, w->plain, SIZE);
	assert_in_range(held(memory), KEEP, 2 * KEEP + PAGED_WINDOW);
	assert_int_equal(paged_memory_error(memory), 0);
	paged_memory_free(memory);
	close(fd);
}

static void reads_what_is_there_in_any_order(void **state)
{
	check_looks(*state, false);
}

static void reads_what_is_packed_in_any_order(void **state)
{
	check_looks(*state, true);
}

/* What is looked at alone is unpacked, and what lies before it. */
static void holds_only_what_is_looked_at(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->packed, w->n);
	struct paged_part part = part_of(w, true);
	struct paged_memory *memory;
	size_t bytes;
	char *start;

	assert_int_equal(paged_memory_new(&memory, fd, 0, &part, 1), 0);
	start = (char *)paged_memory_start(memory, &bytes) + part.at;
	assert_int_equal(held(memory), 0);
	assert_memory_equal(start + 3 * SIZE / 4, w->plain + 3 * SIZE / 4, 16);
	assert_int_equal(held(memory), PAGED_WINDOW);
	paged_memory_free(memory);
	close(fd);
}

/* Reads all of it. Is it what was packed? That is what its end says. */
static bool reads_right(const struct world *w, int fd, uint64_t n, uint64_t size)
{
	struct paged_part part = {
		.offset = OFFSET, .n = n, .size = size, .keep = KEEP, .is_packed = true
	};
	struct paged_memory *memory;
	const unsigned char *start;
	bool same, said;
	size_t bytes;

	if (paged_memory_new(&memory, fd, 0, &part, 1))
		return false;
	start = (unsigned char *)paged_memory_start(memory, &bytes) + part.at;
	same = !memcmp(start, w->plain, size < SIZE ? size : SIZE) && size <= SIZE;
	/* the sum of all bytes is behind them */
	(void)*(volatile const unsigned char *)&start[size - 1];
	said = !paged_memory_error(memory);
	assert_true(same || !said);
	paged_memory_free(memory);
	return said;
}

static void tells_of_damage(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->packed, w->n), refused = 0;

	assert_true(reads_right(w, fd, w->n, SIZE));
	for (int i = 0; i < 60; i++) {
		unsigned char byte;
		off_t at = OFFSET + (off_t)(i < 20 ? (size_t)i : draw(w) % w->n);

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= (unsigned char)(1u << draw(w) % 8);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		refused += !reads_right(w, fd, w->n, SIZE);
		byte = w->packed[at - OFFSET];
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_true(refused > 50); /* some bits of the head say nothing */
	close(fd);
}

static void believes_no_size(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->packed, w->n);
	struct inflater *inflater;

	/* nothing packs better than 1 : 1032 */
	assert_int_equal(inflater_new(&inflater, fd, OFFSET, 5000, SIZE), -EBADMSG);
	assert_false(reads_right(w, fd, w->n, SIZE + 1));
	assert_false(reads_right(w, fd, w->n, SIZE - 1));
	assert_false(reads_right(w, fd, w->n, 2 * SIZE));
	assert_false(reads_right(w, fd, w->n - 1, SIZE));
	assert_false(reads_right(w, fd, w->n + 1, SIZE));
	assert_false(reads_right(w, fd, 5, SIZE));
	assert_false(reads_right(w, fd, 1ULL << 60, 1ULL << 50));
	assert_false(reads_right(w, fd, UINT64_MAX, UINT64_MAX));
	close(fd);
}

static void tells_of_a_file_that_shrank(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->plain, SIZE);
	struct paged_part part = part_of(w, false);
	struct paged_memory *memory;
	size_t bytes;
	char *start;

	assert_int_equal(paged_memory_new(&memory, fd, 0, &part, 1), 0);
	start = (char *)paged_memory_start(memory, &bytes) + part.at;
	assert_int_equal(start[5], w->plain[5]);
	assert_int_equal(ftruncate(fd, SIZE / 2), 0);
	assert_int_equal(start[6], w->plain[6]);
	assert_int_equal(paged_memory_error(memory), 0);
	assert_int_equal(start[SIZE - 8], 0);
	assert_int_equal(paged_memory_error(memory), -EBADMSG);
	paged_memory_free(memory);
	close(fd);
}

/* One block of stored bytes after another, so that there is much to go back over: that
 * ends, too. */
static void goes_back_only_so_often(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->packed, w->n);
	struct inflater *inflater;
	char byte;
	int err = 0, looks = 0;

	assert_int_equal(inflater_new(&inflater, fd, OFFSET, w->n, SIZE), 0);
	while (!err && looks++ < 1 << 20)
		err = inflater_read(inflater, looks & 1 ? SIZE - 1 : SIZE - (3u << 20),
				    &byte, 1);
	assert_int_equal(err, -EFBIG);
	inflater_free(inflater);
	close(fd);
}

/* Which ends a process as without it. */
static void leaves_other_faults_alone(void **state)
{
	struct world *w = *state;
	int fd = file_of(w->plain, SIZE), status;
	pid_t child = fork();

	if (!child) {
		struct paged_part part = part_of(w, false);
		struct paged_memory *memory;
		size_t bytes;
		volatile char *start;

		signal(SIGSEGV, SIG_DFL); /* cmocka has its own */
		if (paged_memory_new(&memory, fd, 0, &part, 1))
			_exit(3);
		start = paged_memory_start(memory, &bytes);
		(void)start[part.at];
		(void)start[bytes - 1]; /* behind the last part */
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_there_in_any_order),
		cmocka_unit_test(reads_what_is_packed_in_any_order),
		cmocka_unit_test(holds_only_what_is_looked_at),
		cmocka_unit_test(tells_of_damage),
		cmocka_unit_test(believes_no_size),
		cmocka_unit_test(tells_of_a_file_that_shrank),
		cmocka_unit_test(goes_back_only_so_often),
		cmocka_unit_test(leaves_other_faults_alone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
