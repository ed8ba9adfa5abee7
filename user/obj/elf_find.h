/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a handful of symbols by name in a table of any size: by its hash table
 * (obj/elf_hash.h), or where there is none by a search among the strings: nearly no
 * file has them, and then its symbols need not be read.
 */
#ifndef WEFT_OBJ_ELF_FIND_H
#define WEFT_OBJ_ELF_FIND_H

#include "obj/elf_search.h"

/* 0 or a negative errno. A symbol may be told more than once. */
int elf_find(struct elf_file *file, const struct elf_table *table,
	     const struct elf_search *search);

#endif
