/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runtime.moduledata: what Go's linker tells the runtime of a program, and where alone
 * some of it is said. No symbol leads there in a stripped program. Since Go 1.26 it has a
 * section of its own; before, it lies somewhere among the data, and is known by the
 * addresses that it has of the table of functions and its parts.
 */
#ifndef WEFT_OBJ_GO_MODULE_H
#define WEFT_OBJ_GO_MODULE_H

#include "obj/elf_file.h"

/* As linked: the table, its parts, and what lies behind it. */
struct go_parts {
	uint64_t table, names, units, files, steps, entries, end;
	uint64_t first; /* where the first function begins, from the beginning of the
			 * code on */
	bool is_1_18;	/* of Go 1.18 or 1.19 */
};

struct go_module {
	uint64_t text;	   /* where the code begins */
	uint64_t funcdata; /* what functions' data is counted from; 0: not told */
};

/* 0; *ret is zero if there is none that is of these parts. Or -errno of a read. */
int go_module_find(struct elf_file *file, const struct go_parts *parts,
		   struct go_module *ret);

#endif
