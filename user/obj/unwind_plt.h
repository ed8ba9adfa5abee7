/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arm64's linkers write no call frame information of the procedure linkage table.
 * Its stubs change neither sp nor the return address's register, so what an
 * unwinder needs is known; without it, a sample in a stub would lose the function
 * that calls. Stands between the reader of the file's own information and what
 * takes its rows.
 */
#ifndef WEFT_OBJ_UNWIND_PLT_H
#define WEFT_OBJ_UNWIND_PLT_H

#include "obj/cfi.h"

struct unwind_plt {
	const struct cfi_sink *sink;   /* borrowed */
	uint64_t begin, end;	       /* of .plt; none: both 0 */
	uint64_t push_begin, push_end; /* where its first entry has 16 bytes pushed */
	uint64_t pc;		       /* of the last row */
	bool covered, any, told;
};

void unwind_plt_open(struct unwind_plt *plt, struct elf_file *file,
		     const struct cfi_sink *sink);

/* As cfi_sink's row; arg: the struct unwind_plt. What the file says goes first. */
int unwind_plt_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_plt_end(struct unwind_plt *plt);

#endif
