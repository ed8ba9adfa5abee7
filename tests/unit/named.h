/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects what a reader of names calls back, for tests to look at. */
#ifndef WEFT_TESTS_NAMED_H
#define WEFT_TESTS_NAMED_H

#include "elf_files.h"

#include "obj/elf_names.h"
#include "obj/elf_scan.h"
#include "obj/names.h"

#define NAMED_MAX   4096
#define NAMED_BYTES 4096

struct named {
	size_t n, called;
	struct {
		char name[NAMED_BYTES];
		uint64_t start;
	} items[NAMED_MAX]; /* "" where none was called back */
};

static inline int named_sink(void *arg, size_t index, const char *name, uint64_t start)
{
	struct named *named = arg;

	assert_true(index < named->n);
	assert_string_equal(named->items[index].name, "");
	assert_true(strlen(name) > 0 && strlen(name) < sizeof(named->items->name));
	strcpy(named->items[index].name, name);
	named->items[index].start = start;
	named->called++;
	return 0;
}

/* The offset in the file of an address as linked. */
static inline UNUSED uint64_t offset_of(int fd, uint64_t vaddr)
{
	struct elf_info elf_info;

	assert_int_equal(elf_scan(fd, &elf_info), 0);
	for (uint32_t i = 0; i < elf_info.n_segments; i++)
		if (vaddr - elf_info.segments[i].vaddr < elf_info.segments[i].file_bytes)
			return vaddr - elf_info.segments[i].vaddr +
			       elf_info.segments[i].offset;
	fail_msg("%lx is in no segment", (unsigned long)vaddr);
	return 0;
}

/* Of a file that nothing is kept of: by offsets, and by addresses as linked. */
static inline UNUSED int file_names(int fd, const uint64_t *addrs, size_t n,
				    name_sink sink, void *arg)
{
	return elf_names(NULL, &(struct elf_names_request){ fd, addrs, n, false }, sink,
			 arg);
}

static inline UNUSED int linked_names(int fd, const uint64_t *addrs, size_t n,
				      name_sink sink, void *arg)
{
	return elf_names(NULL, &(struct elf_names_request){ fd, addrs, n, true }, sink,
			 arg);
}

typedef int names_reader(int fd, const uint64_t *addrs, size_t n, name_sink sink,
			 void *arg);

/* Names of a batch; the caller frees. */
static inline struct named *named_by(names_reader *reader, int fd, const uint64_t *addrs,
				     size_t n)
{
	struct named *named = calloc(1, sizeof(*named));

	assert_non_null(named);
	assert_true(n <= NAMED_MAX);
	named->n = n;
	assert_int_equal(reader(fd, addrs, n, named_sink, named), 0);
	return named;
}

/* The name of one address, "" for none; good until the next call. */
static inline UNUSED const char *name_by(names_reader *reader, int fd, uint64_t addr)
{
	static char name[NAMED_BYTES];
	struct named *named = named_by(reader, fd, &addr, 1);

	strcpy(name, named->items[0].name);
	free(named);
	return name;
}

#endif
