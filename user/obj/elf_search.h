/* SPDX-License-Identifier: BSD-2-Clause */
/* Which symbols are looked for by name, and who is told of them. */
#ifndef WEFT_OBJ_ELF_SEARCH_H
#define WEFT_OBJ_ELF_SEARCH_H

#include "obj/elf_table.h"

struct elf_query {
	const char *name;
	size_t length; /* of name, not 0 */
	int what;      /* the caller's */
};

/* Called for each symbol that is defined and has one of the names. */
typedef void (*elf_search_sink)(void *arg, int what, const Elf64_Sym *sym);

struct elf_search {
	const struct elf_query *queries; /* n of them */
	size_t n;
	elf_search_sink sink;
	void *arg;
};

static inline bool elf_search_may_find(const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

#endif
