/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stubs of the procedure linkage table have no symbols. Their own code says
 * which slot they jump through, and the slot's relocation says to whom: exact
 * for every linker and layout, or else no name. x86-64 and arm64.
 */
#ifndef WEFT_OBJ_ELF_PLT_H
#define WEFT_OBJ_ELF_PLT_H

#include "obj/elf_table.h"

#define ELF_CODE_MAX 8

struct elf_code {
	uint64_t begin, end; /* addresses */
	bool is_init;	     /* or stubs */
};

/* Code of linkers and C libraries by its section's name: .plt and its like, .init
 * and .fini, in no order. How many. */
size_t elf_plt_find(struct elf_file *file, struct elf_code ret[ELF_CODE_MAX]);

struct elf_stub {
	uint64_t vaddr; /* an address in it */
	size_t index;	/* the caller's */
	uint64_t start;
	uint64_t slot; /* address of the pointer that it jumps through */
	uint64_t name; /* among the strings of .dynsym */
	bool found;
};

/* Keeps those of the n addresses (rising) that lie in a stub, in order of
 * their slots; sets start and slot. Returns how many. */
size_t elf_plt_decode(struct elf_file *file, struct elf_stub *stubs, size_t n);

/* Sets name and found where a relocation tells. 0 or a negative errno. */
int elf_plt_resolve(struct elf_file *file, const struct elf_dynamic *dynamic,
		    struct elf_stub *stubs, size_t n);

#endif
