/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gcc's functions that align their stack and keep in a register where it was. When they
 * have taken the frame pointer back, their call frame information still says where it was
 * kept, until the next function. By it, a sample at their last two instructions has the
 * frame pointer of its caller's caller, and skips one. Stands between the reader of the
 * file's own information and what takes its rows.
 */
#ifndef WEFT_UNWIND_UNWIND_REALIGN_H
#define WEFT_UNWIND_UNWIND_REALIGN_H

#include "unwind/cfi.h"

struct unwind_realign {
	const struct cfi_sink *sink; /* borrowed */
	bool any;
	uint64_t pc; /* of the last row, which waits for the next one */
	struct unwind_rule rule;
};

/* As cfi_sink's row; arg: the struct unwind_realign. */
int unwind_realign_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_realign_end(struct unwind_realign *realign);

#endif
