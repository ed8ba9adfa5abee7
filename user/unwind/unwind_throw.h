/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that leave by way of another's frame: those of libgcc that throw C++'s
 * exceptions. Before they go to whoever catches, they write over what their own frame
 * has saved (gcc's __builtin_eh_return), and their call frame information says nothing
 * of it: by it, their caller has a return address of one function and the stack of
 * another. From there to the jump a table must say that it doesn't know. Stands
 * between the reader of the file's own information and what takes its rows.
 */
#ifndef WEFT_UNWIND_UNWIND_THROW_H
#define WEFT_UNWIND_UNWIND_THROW_H

#include "unwind/cfi.h"

struct unwind_throw {
	const struct cfi_sink *sink; /* borrowed, as the file */
	struct elf_file *file;
	bool any;
	bool leaves; /* the last rows were those of a jump into another's frame */
	uint64_t pc; /* of the last row, which waits for the next one */
	struct unwind_rule rule;
};

/* As cfi_sink's row; arg: the struct unwind_throw. */
int unwind_throw_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_throw_end(struct unwind_throw *thrower);

#endif
