/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of arm64 code that no call frame information covers: those that switch stacks,
 * as unwind_switch.h says. Behind the first instruction that writes the link register,
 * or takes the stack pointer from elsewhere, what they hold is another stack's. Before
 * it the link register leads to the caller.
 */
#ifndef WEFT_UNWIND_SWITCH_ARM64_H
#define WEFT_UNWIND_SWITCH_ARM64_H

#include "unwind/cfi.h"

/*
 * Of a leaf at `at`, in a function of n bytes whose call frame information counts the CFA
 * from sp all through it: is what it holds another stack's already, or is its return
 * address lost? is_silent: that information says nothing else, so that the link register
 * is to lead to the caller.
 */
bool switch_arm64_is_torn(const uint8_t *code, size_t n, size_t at, bool is_silent);

/* Of n bytes of code, as linked at vaddr; and what is known of the rest of it
 * (leaf_arm64.h; NULL: nothing). */
int switch_arm64_tell(const uint8_t *code, size_t n, uint64_t vaddr, const bool *leaf,
		      const struct cfi_sink *sink);

#endif
