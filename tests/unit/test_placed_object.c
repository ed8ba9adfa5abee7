// SPDX-License-Identifier: BSD-2-Clause
/*
 * An object file that is mapped as it lies (wasmtime's .cwasm): names and unwind tables
 * are those of the shared object that it was made from, whose addresses are its offsets.
 */
#include "named.h"

#include "obj/elf_scan.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <errno.h>

static const char source[] =
	"int one(int n) { volatile int a[9]; a[n] = n; return a[n]; }\n"
	"static __attribute__((noinline)) int two(int n) { return one(n) + 1; }\n"
	"int three(int n) { return two(n) * one(2); }\n";

/* No segments, sections without addresses, symbols counted from where theirs begins. */
static void make_object(unsigned char *bytes)
{
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Shdr *sh = (void *)(bytes + header->e_shoff);

	header->e_type = ET_REL;
	header->e_phnum = 0;
	header->e_phoff = 0;
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Sym *syms = (void *)(bytes + sh[i].sh_offset);

		assert_true(sh[i].sh_type != SHT_RELA);
		if (sh[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t k = 0; k < sh[i].sh_size / sizeof(*syms); k++)
			if (syms[k].st_shndx && syms[k].st_shndx < header->e_shnum)
				syms[k].st_value -= sh[syms[k].st_shndx].sh_addr;
	}
	for (size_t i = 0; i < header->e_shnum; i++)
		sh[i].sh_addr = 0;
}

static unsigned char *build(const char *linked, size_t *ret_n)
{
	write_file("placed.c", source, strlen(source));
	shell("gcc -w -O1 -shared -fPIC -fvisibility=hidden -nostdlib "
	      "-Wl,-z,noseparate-code -Wl,--build-id=none -o %s placed.c",
	      linked);
	return read_file(linked, ret_n);
}

static void same_names(void **state)
{
	uint64_t one, three;
	size_t n;
	unsigned char *bytes = build("placed.so", &n);
	int fd;

	one = nm_value("", "placed.so", "one");
	three = nm_value("", "placed.so", "three");
	make_object(bytes);
	fd = bytes_fd(bytes, n);
	assert_string_equal(name_by(file_names, fd, one), "one");
	assert_string_equal(name_by(file_names, fd, one + 4), "one");
	assert_string_equal(name_by(file_names, fd, three + 1), "three");
	assert_string_equal(name_by(file_names, fd, 0), "");
	close(fd);
	free(bytes);
}

static void same_table(void **state)
{
	AUTO(unwind_table) linked = NULL;
	AUTO(unwind_table) placed = NULL;
	union unwind_page a, b;
	size_t n;
	unsigned char *bytes = build("placed.so", &n);
	int fd = bytes_fd(bytes, n);

	assert_int_equal(unwind_table_build(fd, NULL, &linked), 0);
	close(fd);
	make_object(bytes);
	fd = bytes_fd(bytes, n);
	assert_int_equal(unwind_table_build(fd, NULL, &placed), 0);
	close(fd);
	free(bytes);

	assert_in_range(unwind_table_stats(linked)->n_rows, 3, 100);
	assert_int_equal(unwind_table_head(placed)->n_pages,
			 unwind_table_head(linked)->n_pages);
	for (uint32_t i = 0; i < unwind_table_head(linked)->n_pages; i++) {
		unwind_table_page(linked, i, &a);
		unwind_table_page(placed, i, &b);
		if (!i) /* of a linked file alone is known that calls lead to returns */
			a.head.flags &= ~(unsigned int)UNWIND_CALLS;
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

/* The addresses of what is still to be linked are anybody's. */
static void not_linked(void **state)
{
	uint64_t addr = 0x40;
	struct elf_info info;
	int fd;

	write_file("placed.c", source, strlen(source));
	shell("gcc -w -O1 -c -o placed.o placed.c");
	fd = open_file("placed.o");
	assert_int_equal(elf_scan(fd, &info), -ENOEXEC);
	assert_int_equal(file_names(fd, &addr, 1, named_sink, NULL), -ENOEXEC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_names),
		cmocka_unit_test(same_table),
		cmocka_unit_test(not_linked),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
