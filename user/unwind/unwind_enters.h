/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GHC's StgRun(), which makes room on the stack and goes on to Haskell's code. Its call
 * frame information is written by hand: it holds for that code, but not where the room is
 * made and given back, of which the code itself tells. Stands between the reader of the
 * file's own information and what takes its rows.
 */
#ifndef WEFT_UNWIND_UNWIND_ENTERS_H
#define WEFT_UNWIND_UNWIND_ENTERS_H

#include "obj/elf_file.h"
#include "unwind/cfi.h"

struct unwind_enters {
	const struct cfi_sink *sink; /* borrowed, as the file */
	struct elf_file *file;
	bool any;
	uint64_t pc; /* of the last row, which waits for the next one */
	struct unwind_rule rule;
};

/* As cfi_sink's row; arg: the struct unwind_enters. */
int unwind_enters_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_enters_end(struct unwind_enters *enters);

#endif
