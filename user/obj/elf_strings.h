/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads single names out of a symbol table's strings, through a small window,
 * since neighbours among the symbols often have neighbouring names. */
#ifndef WEFT_OBJ_ELF_STRINGS_H
#define WEFT_OBJ_ELF_STRINGS_H

#include "obj/elf_table.h"

#define ELF_WINDOW_BYTES 8192
#define ELF_NAME_MOST	 2560 /* longer names come cut */

struct elf_strings {
	struct elf_file *file;
	uint64_t offset, bytes; /* the table's place in the file */
	uint64_t window_at;	/* in the table */
	size_t window_n;
	char window[ELF_WINDOW_BYTES];
};

void elf_strings_init(struct elf_strings *strings, struct elf_file *file,
		      const struct elf_table *table);

/* The name there and its length, good until the next call; "" when it lies
 * outside or cannot be read. Not NUL terminated when cut. */
const char *elf_strings_at(struct elf_strings *strings, uint64_t at, size_t *ret_n);

#endif
