/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an FDE says of the CFA at one place, without its CIE's tables and rules: does it
 * count from the stack pointer there?
 */
#ifndef WEFT_UNWIND_FDE_CFA_H
#define WEFT_UNWIND_FDE_CFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x86-64. code: an FDE's n bytes of instructions, which may end early; at: bytes behind
 * the function's first, where it is sp + 8. In doubt it does not. *ret_offset: how far it
 * is from there. */
bool fde_cfa_is_by_sp(const uint8_t *code, size_t n, uint64_t at, uint64_t *ret_offset);

/* arm64: all through the function? */
bool fde_cfa_stays_by_sp(const uint8_t *code, size_t n);

#endif
