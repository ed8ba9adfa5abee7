/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks names up in .gnu.hash as the loader does, so that of a library with a hundred
 * thousand symbols some hundred bytes are read.
 */
#ifndef WEFT_OBJ_ELF_HASH_H
#define WEFT_OBJ_ELF_HASH_H

#include "obj/elf_search.h"

/* True: each symbol of these names was told. False: there is no such section, or it is
 * garbage; some may have been told. */
bool elf_hash_find(struct elf_file *file, const struct elf_table *table,
		   const struct elf_search *search);

#endif
