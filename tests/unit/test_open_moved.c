// SPDX-License-Identifier: BSD-2-Clause
/* What a loader writes into a file's memory is taken back, and nothing else changes. */
#include "proc/open_moved.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#define START 0x12340000ULL

struct file {
	unsigned char *bytes;
	size_t n;
	Elf64_Ehdr *head;
	Elf64_Phdr *segments;
};

static struct file read_elf(const char *path)
{
	struct file file;

	file.bytes = read_file(path, &file.n);
	file.head = (void *)file.bytes;
	file.segments = (void *)(file.bytes + file.head->e_phoff);
	return file;
}

/* As glibc's loader does, which leaves what is no address: n of them. */
static unsigned int move(struct file *file, uint64_t by)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < file->head->e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		Elf64_Dyn *entry = (void *)(file->bytes + segment->p_offset);

		for (; segment->p_type == PT_DYNAMIC && entry->d_tag; entry++)
			if (entry->d_tag == DT_SYMTAB || entry->d_tag == DT_STRTAB ||
			    entry->d_tag == DT_GNU_HASH) {
				entry->d_un.d_ptr += by;
				n++;
			}
	}
	return n;
}

/* Is `before` what comes of this? */
static void comes_to(const struct file *file, const unsigned char *before)
{
	unsigned char *after = malloc(file->n);
	int fd = bytes_fd(file->bytes, file->n);

	assert_int_equal(open_move_back(fd, START), 0);
	assert_int_equal(pread(fd, after, file->n, 0), file->n);
	assert_memory_equal(after, before, file->n);
	free(after);
	close(fd);
}

static void addresses_of_memory_are_the_files_again(void **state)
{
	struct file file, before;

	if (shell("echo 'int f(void) { return 1; }' >f.c && "
		  "cc -shared -fPIC -Wl,--hash-style=gnu -o f.so f.c"))
		skip();
	before = read_elf("f.so");
	file = read_elf("f.so");
	comes_to(&file, before.bytes); /* musl's loader leaves it as it is */
	assert_int_equal(move(&file, START), 3);
	comes_to(&file, before.bytes);
	free(file.bytes);
	free(before.bytes);
}

/* One that is linked to where it lies, as programs that are not PIE. */
static void what_was_not_moved_stays(void **state)
{
	struct file file, before;

	if (shell("echo 'int main(void) { return 0; }' >m.c && "
		  "cc -no-pie -Wl,-Ttext-segment=%#llx -o m m.c",
		  START))
		skip();
	before = read_elf("m");
	file = read_elf("m");
	comes_to(&file, before.bytes);
	free(file.bytes);
	free(before.bytes);
}

static void garbage_stays(void **state)
{
	struct file file, before;

	if (shell("echo 'int f(void) { return 1; }' >f.c && cc -shared -fPIC -o f.so "
		  "f.c"))
		skip();
	before = read_elf("f.so");
	file = read_elf("f.so");
	file.head->e_phoff = before.head->e_phoff = UINT64_MAX - 3;
	comes_to(&file, before.bytes);
	file.head->e_phoff = before.head->e_phoff = sizeof(Elf64_Ehdr);
	file.head->e_phnum = before.head->e_phnum = UINT16_MAX;
	comes_to(&file, before.bytes);
	memcpy(file.bytes, "text", 4);
	memcpy(before.bytes, "text", 4);
	comes_to(&file, before.bytes);
	free(file.bytes);
	free(before.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_memory_are_the_files_again),
		cmocka_unit_test(what_was_not_moved_stays),
		cmocka_unit_test(garbage_stays),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
