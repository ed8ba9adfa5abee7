/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arm64 code that no call frame information covers and that has no frame: the link
 * register leads to the caller; sp and x29 are the caller's. Such is the code by which
 * processes ask the kernel for the time, and much assembly.
 *
 * Proven backwards: where each way on ends in a return, and neither sp, x29 nor x30 is
 * written before it and nothing called, these registers are what the caller is to find.
 * It doesn't matter where functions begin.
 */
#ifndef WEFT_UNWIND_LEAF_ARM64_H
#define WEFT_UNWIND_LEAF_ARM64_H

#include "unwind/cfi.h"

#include <stdbool.h>

/* Of n bytes of code: for each instruction, is it such code? *ret: the caller frees it;
 * NULL: none is. 0 or -ENOMEM. */
int leaf_arm64_find(const uint8_t *code, size_t n, bool **ret);

/* The rows of those in [begin, end), bytes of the code that is linked at vaddr. leaf may
 * be NULL. */
int leaf_arm64_tell(const bool *leaf, size_t begin, size_t end, uint64_t vaddr,
		    const struct cfi_sink *sink);

#endif
