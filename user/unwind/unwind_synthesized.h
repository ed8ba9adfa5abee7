/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of which no call frame information is written, though all that an unwinder
 * needs is known of it. Stands between the reader of the file's own information
 * and what takes its rows.
 *
 * Stubs of the procedure linkage table: arm64's linkers tell nothing of them, GNU
 * ld nothing of a static program's indirect functions, lld nothing at all. They
 * hardly touch a stack; without it, a sample in one would lose the function that
 * calls. C libraries' _init() and _fini(), which push 8 bytes. And the code at a
 * file's entry point, as the dynamic linker's: nobody called that. Of the rest
 * some pieces (unwind/unwind_switch.h), also of a file that tells nothing at all.
 */
#ifndef WEFT_UNWIND_UNWIND_SYNTHESIZED_H
#define WEFT_UNWIND_UNWIND_SYNTHESIZED_H

#include "unwind/cfi.h"
#include "obj/elf_plt.h"
#include "unwind/unwind_switch.h"

#define SYNTHESIZED_ROWS 4
#define SYNTHESIZED_MAX	 (ELF_CODE_MAX + 1)
#define GAPS_MAX	 1000	     /* each a range that the cache records; */
#define LARGE_GAP_BYTES	 (64u << 10) /* as large ones, which are few, always are; */
#define SMALL_GAP_BYTES	 64 /* small ones, mostly a linker's padding, up to half */
#define GAP_BYTES_MAX	 (48u << 20) /* of all of them; 5 to 8 MB take a second */
#define V8_BYTES_MAX	 (8u << 20)  /* and of V8's builtins: versions 11 to 15 have 2 */

/* A piece of code, and what is known of it. */
struct synthesized_code {
	uint64_t begin, end;
	bool may_be_cut; /* what is told of code before its end ends it */
	size_t n;
	struct {
		uint64_t pc;
		struct unwind_rule rule;
	} rows[SYNTHESIZED_ROWS];
};

struct unwind_synthesized {
	struct elf_file *file; /* borrowed, as what follows */
	const struct cfi_sink *sink;
	struct synthesized_code code[SYNTHESIZED_MAX];
	size_t n, next;	     /* of which the next one is not passed yet */
	unsigned int n_gaps; /* looked at */
	struct code_budget budget;
	uint64_t pc; /* of the last row */
	bool covered, any;
};

void unwind_synthesized_open(struct unwind_synthesized *synthesized,
			     struct elf_file *file, const struct cfi_sink *sink);

/* As cfi_sink's row; arg: the struct unwind_synthesized. What the file says goes
 * first. */
int unwind_synthesized_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_synthesized_end(struct unwind_synthesized *synthesized);

#endif
