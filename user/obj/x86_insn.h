/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an x86-64 instruction is, and whether it calls; nothing else of it. */
#ifndef WEFT_UNWIND_X86_INSN_H
#define WEFT_UNWIND_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSN_MAX 15 /* bytes */

/* Its bytes, or 0: none that 64-bit user code has, or more than the n there are.
 * *ret_calls: it leaves a return address. */
size_t x86_insn_bytes(const uint8_t *code, size_t n, bool *ret_calls);

#endif
