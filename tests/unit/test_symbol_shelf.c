// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a parser keeps of files that it is asked about again and again: the names stay
 * those that a pass over the file gives, of a library and of symbols that lie in, over
 * and beside each other; what was read once is not read again; it does not grow.
 */
#include "obj/symbol_shelf.h"

#include "named.h"

#include <malloc.h>
#include <sys/syscall.h>

#define SYMBOLS	  60000
#define CODE	  (64 * SYMBOLS)
#define QUESTIONS 40
#define AT_ONCE	  40

static uint64_t n_read; /* bytes */

/* In place of the C library's, for all of weft in here. */
ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	n_read += n;
	return syscall(SYS_pread64, fd, buf, n, offset);
}

/* Functions of random sizes, none among them, in any order. */
static void write_symbols(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, ".text\nbase:\n.skip %d, 0x90\n", CODE);
	srandom(1);
	for (int i = 0; i < SYMBOLS; i++) {
		long at = random() % CODE, size = random() % 200;
		const char *type = random() % 4 ? "@function" : "@notype";

		if (random() % 16 == 0) /* a second name */
			fprintf(file, ".set a%d, base + %ld\n.set b%d, base + %ld\n", i,
				at, i, at);
		else if (random() % 16 == 0)
			fprintf(file, ".set \"$x.%d\", base + %ld\n", i, at);
		else
			fprintf(file, ".set a%d, base + %ld\n", i, at);
		if (random() % 4 == 0) /* labels in it, as NASM writes them */
			fprintf(file,
				".set a%d.l, base + %ld\n.set \"..@%d.l\", base + %ld\n",
				i, at + random() % 20, i, at + random() % 20);
		if (random() % 3 == 0)
			fprintf(file, ".globl a%d\n", i);
		fprintf(file, ".type a%d, %s\n", i, type);
		if (random() % 5 && size)
			fprintf(file, ".size a%d, %ld\n", i, size);
		if (i % 20000 == 0)
			fprintf(file, ".size a%d, %d\n", i, CODE / 200);
	}
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_symbols("s.s");
	return shell("gcc -Wa,-L -nostdlib -shared s.s -o many.so && xz -c many.so "
		     ">mini.xz") ||
	       shell("strip many.so -o exported.so") ||
	       shell("objcopy --add-section .gnu_debugdata=mini.xz exported.so "
		     "packed.so");
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Distinct offsets of a file's code. */
static size_t make_question(const struct elf_info *info, uint64_t *addrs)
{
	const struct elf_segment *code = &info->segments[0];
	size_t n = 0;

	for (uint32_t i = 0; i < info->n_segments; i++)
		if (info->segments[i].file_bytes > code->file_bytes)
			code = &info->segments[i];
	for (size_t i = 0; i < AT_ONCE; i++)
		addrs[i] = code->offset + (uint64_t)random() % code->file_bytes;
	qsort(addrs, AT_ONCE, sizeof(*addrs), by_address);
	for (size_t i = 0; i < AT_ONCE; i++)
		if (!n || addrs[n - 1] != addrs[i])
			addrs[n++] = addrs[i];
	return n;
}

static void check_same(const struct named *a, const struct named *b)
{
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->items[i].name, b->items[i].name);
		assert_true(a->items[i].start == b->items[i].start);
	}
}

/* One question; the caller frees what comes of it. */
static struct named *ask_once(struct symbol_shelf *shelf,
			      const struct elf_names_request *request)
{
	struct named *named = calloc(1, sizeof(*named));

	assert_non_null(named);
	named->n = request->n;
	n_read = 0;
	assert_int_equal(elf_names(shelf, request, named_sink, named), 0);
	return named;
}

/* And what a pass over the file says. How many addresses have names. */
static size_t ask(struct symbol_shelf *shelf, int fd, bool linked)
{
	names_reader *reader = linked ? linked_names : file_names;
	uint64_t addrs[AT_ONCE], read_for_it;
	struct elf_names_request request = { .fd = fd, .addrs = addrs, .linked = linked };
	struct named *named, *again;
	struct elf_info info;
	size_t n_named;

	assert_int_equal(elf_scan(fd, &info), 0);
	request.n = make_question(&info, addrs);
	named = ask_once(shelf, &request);
	read_for_it = n_read;
	again = named_by(reader, fd, addrs, request.n);
	n_read = read_for_it;
	check_same(named, again);
	n_named = named->called;
	free(again);
	free(named);
	return n_named;
}

static void names_stay_the_same(void **state)
{
	static const char *const paths[] = { "many.so", "exported.so", "packed.so",
					     "/proc/self/exe" };
	AUTO(symbol_shelf) shelf = NULL;

	assert_int_equal(symbol_shelf_new(&shelf), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		uint64_t first = 0;
		size_t n_named = 0;

		assert_true(fd >= 0);
		for (int k = 0; k < QUESTIONS; k++) {
			n_named += ask(shelf, fd, k % 4 == 3);
			first = k ? first : n_read;
		}
		assert_in_range(n_named, QUESTIONS, QUESTIONS * AT_ONCE);
		close(fd);
		/* a quarter of it for what has no symbol: tables of other kinds */
		if (i < 3)
			assert_in_range(n_read, 1, first / 2);
	}
}

static size_t bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Each of these files takes a fourteenth of a shelf. */
static void it_does_not_grow(void **state)
{
	enum { FILES = 40 };
	AUTO(symbol_shelf) shelf = NULL;
	size_t before = bytes_in_use();
	int fds[FILES];

	for (int i = 0; i < FILES; i++) {
		assert_int_equal(shell("cp many.so copy.so"), 0);
		fds[i] = open_file("copy.so");
		assert_int_equal(unlink("copy.so"), 0);
	}
	assert_int_equal(symbol_shelf_new(&shelf), 0);
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < FILES; i++)
			ask(shelf, fds[i], false);
	assert_in_range(bytes_in_use() - before, SHELF_BYTES_MAX / 2,
			SHELF_BYTES_MAX + (2u << 20));
	/* those that came last are known, and no worse off for the others */
	ask(shelf, fds[FILES - 1], false);
	assert_in_range(n_read, 1, SYMBOLS * sizeof(Elf64_Sym) / 2);
	for (int i = 0; i < FILES; i++)
		close(fds[i]);
}

/* It is another file then, although it has the name and the inode of this one. */
static void what_was_written_to_is_read_anew(void **state)
{
	AUTO(symbol_shelf) shelf = NULL;
	int fd;

	assert_int_equal(symbol_shelf_new(&shelf), 0);
	assert_int_equal(shell("cp many.so changed.so"), 0);
	fd = open_file("changed.so");
	for (int k = 0; k < 4; k++)
		ask(shelf, fd, false);
	assert_int_equal(shell("cp exported.so changed.so && truncate -s +9 changed.so"),
			 0);
	for (int k = 0; k < 8; k++)
		ask(shelf, fd, false);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stay_the_same),
		cmocka_unit_test(it_does_not_grow),
		cmocka_unit_test(what_was_written_to_is_read_anew),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
