/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions whose frame ends by a register that a call may change (CFA = rax + 8), and
 * which call helpers of their own that leave it alone: the AES-GCM of OpenSSL and GnuTLS,
 * where nearly all samples are in such a helper. While that runs the register is what it
 * was, so its caller's frame can be told: where the called code says so, which is read to
 * its end. Stands between the reader of the file's own information and what takes its
 * rows. x86-64.
 */
#ifndef WEFT_UNWIND_UNWIND_KEPT_H
#define WEFT_UNWIND_UNWIND_KEPT_H

#include "unwind/cfi.h"
#include "unwind/code_pages.h"

struct unwind_kept {
	const struct cfi_sink *sink; /* borrowed, as the code's file */
	struct code_pages code;
	bool any;
	uint64_t pc; /* of the last row, which waits for the next one */
	struct unwind_rule rule;
};

void unwind_kept_open(struct unwind_kept *kept, struct elf_file *file,
		      const struct cfi_sink *sink);

/* As cfi_sink's row; arg: the struct unwind_kept. */
int unwind_kept_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_kept_end(struct unwind_kept *kept);

#endif
