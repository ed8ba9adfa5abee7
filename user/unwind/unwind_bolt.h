/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What LLVM's BOLT says of functions into which it put others (-inline-all, as CPython is
 * built): the blocks of these, but for the first, are told of as if nothing were on the
 * stack but a return address. Code goes on into them that has more there and moves no
 * stack pointer, so they have as much. Stands between the reader of the file's own
 * information and what takes its rows. x86-64.
 */
#ifndef WEFT_UNWIND_UNWIND_BOLT_H
#define WEFT_UNWIND_UNWIND_BOLT_H

#include "base/vec.h"
#include "unwind/cfi.h"
#include "unwind/code_pages.h"

struct bolt_row {
	uint64_t pc;
	struct unwind_rule rule;
};

struct unwind_bolt {
	const struct cfi_sink *sink; /* borrowed, as the code's file */
	struct code_pages code;
	bool is_made; /* the file, by BOLT: else nothing stands between */
	uint64_t end; /* of the function whose rows wait */
	int err;
	VEC(struct bolt_row) rows;
};

void unwind_bolt_open(struct unwind_bolt *bolt, struct elf_file *file,
		      const struct cfi_sink *sink);
void unwind_bolt_close(struct unwind_bolt *bolt); /* {0} is fine */

/* As cfi_sink's; arg: the struct unwind_bolt. */
void unwind_bolt_fde(void *arg, uint64_t begin, uint64_t end);
int unwind_bolt_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_bolt_end(struct unwind_bolt *bolt);

#define AUTO_UNWIND_BOLT __attribute__((cleanup(unwind_bolt_close))) struct unwind_bolt

#endif
