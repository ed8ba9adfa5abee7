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

#define KEPT_PAGE_BYTES 4096

struct unwind_kept {
	const struct cfi_sink *sink; /* borrowed, as the file */
	struct elf_file *file;
	bool any;
	uint64_t pc; /* of the last row, which waits for the next one */
	struct unwind_rule rule;
	size_t n_looked; /* bytes that were looked at */
	/* the page of the file that was read last; 0 bytes: none */
	uint64_t page_offset;
	size_t page_bytes;
	uint8_t page[KEPT_PAGE_BYTES];
};

/* {0} but for sink and file. As cfi_sink's row; arg: the struct unwind_kept. */
int unwind_kept_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_kept_end(struct unwind_kept *kept);

#endif
