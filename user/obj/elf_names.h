/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of a batch of addresses by an ELF file's symbols, as obj/names.h has them. */
#ifndef WEFT_OBJ_ELF_NAMES_H
#define WEFT_OBJ_ELF_NAMES_H

#include "obj/names.h"

#include <stdbool.h>

struct symbol_shelf; /* obj/symbol_shelf.h */

struct elf_names_request {
	int fd;
	const uint64_t *addrs;
	size_t n;
	bool linked; /* NAMES_ELF_LINKED, else NAMES_ELF */
};

/* shelf: keeps what is read, for later requests of the same file; NULL: nothing does. */
int elf_names(struct symbol_shelf *shelf, const struct elf_names_request *request,
	      name_sink sink, void *arg);

#endif
