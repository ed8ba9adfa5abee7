/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a handful of symbols by name in a table of any size: by its hash table
 * (obj/elf_hash.h), or where there is none by a search among the strings: nearly no
 * file has them, and then its symbols need not be read.
 */
#ifndef WEFT_OBJ_ELF_FIND_H
#define WEFT_OBJ_ELF_FIND_H

#include "obj/elf_table.h"

struct elf_query {
	const char *name;
	size_t length; /* of name, not 0 */
	int what;      /* the caller's */
};

/* Called for each symbol that is defined and has one of the names. */
typedef void (*elf_find_sink)(void *arg, int what, const Elf64_Sym *sym);

struct elf_search {
	const struct elf_query *queries; /* n of them */
	size_t n;
	elf_find_sink sink;
	void *arg;
};

static inline bool elf_find_is_defined(const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

/* 0 or a negative errno. A symbol may be told more than once. */
int elf_find(struct elf_file *file, const struct elf_table *table,
	     const struct elf_search *search);

#endif
