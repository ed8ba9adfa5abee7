/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LuaJIT's interpreter: one function in assembly, whose call frame information has one
 * rule for all of it. Where it makes its frame and takes it down it says nothing of that.
 * These places are looked for and get rules of their own. Stands between the reader of
 * the file's own information and what takes its rows.
 */
#ifndef WEFT_UNWIND_UNWIND_LUAJIT_H
#define WEFT_UNWIND_UNWIND_LUAJIT_H

#include "unwind/cfi.h"

struct unwind_luajit {
	const struct cfi_sink *sink; /* borrowed, as the file */
	struct elf_file *file;
	bool found;  /* this file has it */
	uint64_t pc; /* of the last row */
	struct unwind_rule rule;
};

/* {0} but for sink and file. As cfi_sink's row; arg: the struct unwind_luajit. */
int unwind_luajit_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

#endif
