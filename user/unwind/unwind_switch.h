/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of code that no call frame information covers, read instruction by instruction:
 * those that switch stacks (libunwind's setcontext, boost.context's jumps, longjmp of
 * small C libraries), and, of x86-64, straight ones that return. What has branches is
 * followed by its jumps (x86_flow.h). arm64's: switch_arm64.h.
 *
 * Behind the instruction that takes the stack pointer from somewhere else the pc is
 * still the old function's, and the stack is another's: nothing there leads to a
 * caller. Before it, from the function's first instruction on, it is known what was
 * pushed. Of straight code that is proven where it returns with as much on the stack
 * as it began with.
 */
#ifndef WEFT_UNWIND_UNWIND_SWITCH_H
#define WEFT_UNWIND_UNWIND_SWITCH_H

#include "unwind/cfi.h"

/* Is [begin, end) code, and not just what keeps the next function aligned? */
bool unwind_switch_is_code(uint64_t begin, uint64_t end);

#define SPARED_BYTES (8u << 10)

/* How much may still be read of a file's code that no row covers. */
struct code_budget {
	size_t bytes;	 /* of it, */
	size_t v8_bytes; /* and of V8's builtins in what is too large to be read */
	uint64_t unread; /* bytes of the rest of that, so far */
	/* pieces of SPARED_BYTES and more that seem to keep frame pointers are not read,
	 * as if they were too large */
	bool spares_fp;
};

/* Of [begin, end), which no row covers, those rows that are known, and behind each
 * function that has some a row of no rule. What can't be read has none, nor has what is
 * too large to be read, but for V8's builtins in it. */
int unwind_switch_tell(struct elf_file *file, uint64_t begin, uint64_t end,
		       struct code_budget *budget, const struct cfi_sink *sink);

#endif
