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

/* Of n bytes of code, as linked at vaddr. */
int switch_arm64_tell(const uint8_t *code, size_t n, uint64_t vaddr,
		      const struct cfi_sink *sink);

#endif
