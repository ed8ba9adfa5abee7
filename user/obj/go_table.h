/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions in a program that Go's linker wrote, .gopclntab. Go's runtime
 * needs it to walk its stacks, so no strip(1) removes it. It has a function's start, its
 * name and, for each instruction, how far sp is from where it was at the start, and which
 * line of source it is of. The form is that of Go 1.18 and later (internal/abi and
 * runtime/symtab.go of Go's sources).
 *
 * A copy of the table in memory, at most GO_TABLE_MAX bytes. Every offset is checked.
 */
#ifndef WEFT_OBJ_GO_TABLE_H
#define WEFT_OBJ_GO_TABLE_H

#include "obj/elf_file.h"
#include "obj/go_module.h"

#define GO_TABLE_MAX (128u << 20)

struct go_table {
	uint8_t *bytes;
	size_t n;
	uint64_t text; /* as linked; functions count from it */
	uint32_t n_functions;
	uint32_t quantum; /* bytes that a step of an address stands for */
	/* parts, from the beginning: names of functions; which of the files each unit
	 * has; names of files; what instructions have (obj/go_values.h); functions */
	uint32_t names, units, files, steps, entries;
	uint32_t record_bytes; /* of a function, before what not all have alike */
	struct go_parts as_linked;
	struct go_module module; /* by go_table_find_module() */
	bool has_looked;	 /* for it */
};

#define AUTO_GO_TABLE __attribute__((cleanup(go_table_close))) struct go_table

/* 0, also when there is none (n_functions = 0); -EBADMSG: garbage; -E2BIG; or -errno of
 * a read. */
int go_table_open(struct go_table *table, struct elf_file *file);
void go_table_close(struct go_table *table); /* {0} is fine */

/* Sets table->module, of the same file; zero: there is none. To look for it takes a pass
 * over the data, so that is done once. 0, or -errno of a read. */
int go_table_find_module(struct go_table *table, struct elf_file *file);

/* runtime.goexit and the like, which nobody called; sp is set to something else there;
 * written in assembly */
enum go_flags { GO_IS_TOP = 1, GO_WRITES_SP = 2, GO_IS_ASSEMBLY = 4 };

struct go_function {
	uint64_t begin, end;	 /* as linked; up to where the next one begins */
	const char *name;	 /* foreign, of the table; ends with a NUL */
	uint32_t sp, file, line; /* where their values are; 0: not told */
	uint32_t unit;		 /* from here on its files' numbers count */
	uint32_t record;	 /* from the beginning of the table */
	unsigned int flags;
};

/* The i-th, by address. False: nothing but where it lies is known. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret);

/* What a function has of a kind that not all have: where its values are, 0: none. And
 * where data of the kind lies, from struct go_module's on; false: none. */
enum go_pcdata { GO_PCDATA_INLINED = 2 };
enum go_funcdata { GO_FUNCDATA_INLINED = 3 };
uint32_t go_table_pcdata(const struct go_table *table, const struct go_function *function,
			 enum go_pcdata kind);
bool go_table_funcdata(const struct go_table *table, const struct go_function *function,
		       enum go_funcdata kind, uint32_t *ret);

/* Foreign, and ends with a NUL; NULL: there is none. The names of functions; and those of
 * files, by their number in a function's unit. */
const char *go_table_name(const struct go_table *table, uint32_t at);
const char *go_table_file(const struct go_table *table,
			  const struct go_function *function, uint32_t number);

/* The number of the function that holds the address, or n_functions. */
uint32_t go_table_find(const struct go_table *table, uint64_t vaddr);

#endif
