/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an ELF file keeps its symbols. .dynsym is found as the loader finds
 * it, by PT_DYNAMIC, so that a file without section headers, or with lying
 * ones, is read like any other; .symtab by its section header. What is found
 * lies within the file; what the symbols themselves say is not checked.
 */
#ifndef WEFT_OBJ_ELF_TABLE_H
#define WEFT_OBJ_ELF_TABLE_H

#include "obj/elf_file.h"

struct elf_table {
	uint64_t syms_offset;
	uint64_t n_syms;
	uint64_t strings_offset;
	uint64_t strings_bytes;
	uint64_t hash_offset; /* .gnu.hash of the symbols that are defined */
	uint64_t hash_bytes;  /* up to its segment's end; 0: there is none */
};

struct elf_dynamic {
	struct elf_table table;	       /* n_syms = 0: none */
	uint64_t soname;	       /* offset among the strings, 0 = none */
	uint64_t jmprel, jmprel_bytes; /* relocations of the PLT: vaddr and size */
	uint64_t rela, rela_bytes;
	bool is_program;      /* a position-independent one, as it says of itself */
	bool needs_libraries; /* else all of it is here, as in a static program */
};

/* 0, also when there is none (all zero), or a negative errno. */
int elf_table_dynamic(struct elf_file *file, struct elf_dynamic *ret);

/* .symtab, or false. */
bool elf_table_static(const struct elf_file *file, struct elf_table *ret);

/* Calls each symbol of the table, in its order. A negative return ends the
 * pass and is passed up. */
typedef int (*elf_symbol_sink)(void *arg, const Elf64_Sym *sym);
int elf_table_symbols(struct elf_file *file, const struct elf_table *table,
		      elf_symbol_sink sink, void *arg);

/* The one of this number, which is less than n_syms. 0 or the error of a read. */
int elf_table_symbol(struct elf_file *file, const struct elf_table *table,
		     uint32_t number, Elf64_Sym *ret);

#endif
