/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions in a program that Go's linker wrote, .gopclntab. Go's runtime
 * needs it to walk its stacks, so no strip(1) removes it. It has a function's start, its
 * name and, for each instruction, how far sp is from where it was at the start. The form
 * is that of Go 1.18 and later (internal/abi and runtime/symtab.go of Go's sources).
 *
 * A copy of the table in memory, at most GO_TABLE_MAX bytes. Every offset is checked.
 */
#ifndef WEFT_OBJ_GO_TABLE_H
#define WEFT_OBJ_GO_TABLE_H

#include "obj/elf_file.h"

#define GO_TABLE_MAX (128u << 20)

struct go_table {
	uint8_t *bytes;
	size_t n;
	uint64_t text; /* as linked; functions count from it */
	uint32_t n_functions;
	uint32_t quantum;		/* bytes that a step of an address stands for */
	uint32_t names, steps, entries; /* parts, from the beginning */
	uint32_t flags_at;		/* in a function's record */
};

#define AUTO_GO_TABLE __attribute__((cleanup(go_table_close))) struct go_table

/* 0, also when there is none (n_functions = 0); -EBADMSG: garbage; -E2BIG; or -errno of
 * a read. */
int go_table_open(struct go_table *table, struct elf_file *file);
void go_table_close(struct go_table *table); /* {0} is fine */

/* runtime.goexit and the like, which nobody called; sp is set to something else there;
 * written in assembly */
enum go_flags { GO_IS_TOP = 1, GO_WRITES_SP = 2, GO_IS_ASSEMBLY = 4 };

struct go_function {
	uint64_t begin, end; /* as linked; up to where the next one begins */
	const char *name;    /* foreign, of the table; ends with a NUL */
	uint32_t sp;	     /* where the distances of sp are; 0: not told */
	unsigned int flags;
};

/* The i-th, by address. False: nothing but where it lies is known. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret);

/* The number of the function that holds the address, or n_functions. */
uint32_t go_table_find(const struct go_table *table, uint64_t vaddr);

#endif
