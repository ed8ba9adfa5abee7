/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads single names out of a symbol table's strings, through a small window,
 * since neighbours among the symbols often have neighbouring names. */
#ifndef WEFT_OBJ_ELF_STRINGS_H
#define WEFT_OBJ_ELF_STRINGS_H

#include "base/str.h"
#include "obj/elf_table.h"

#define ELF_WINDOW_BYTES 8192
#define ELF_HEAD_BYTES	 2560 /* that elf_strings_at() gives of a name */
#define ELF_NAME_BYTES	 (1u << 20)

struct elf_strings {
	struct elf_file *file;
	uint64_t offset, bytes; /* the table's place in the file */
	uint64_t window_at;	/* in the table */
	size_t window_n;
	char window[ELF_WINDOW_BYTES];
};

void elf_strings_init(struct elf_strings *strings, struct elf_file *file,
		      const struct elf_table *table);

/* How the name there begins, and how long that is, good until the next call; "" when
 * it lies outside or cannot be read. Not NUL terminated when there is more. */
const char *elf_strings_at(struct elf_strings *strings, uint64_t at, size_t *ret_n);

/* All of it, in *ret; empty as above. What is beyond ELF_NAME_BYTES is left out, and
 * where the name lies stands in its place, so that it is still no other's. */
void elf_strings_whole(struct elf_strings *strings, uint64_t at, struct str *ret);

#endif
