/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of assembly that leave registers alone which a call may change. Who calls them
 * keeps in such a register where its own frame ends.
 */
#ifndef WEFT_UNWIND_X86_HELPER_H
#define WEFT_UNWIND_X86_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_HELPER_MAX 4096u /* bytes: OpenSSL's have 1.5 KB at most */

/* Is the register the same wherever the function that begins there is at work? It calls
 * nobody, all its jumps stay within, and n bytes hold all of it. *ret_bytes: so much of
 * it was looked at. */
bool x86_helper_leaves_alone(const uint8_t *code, size_t n, int reg, size_t *ret_bytes);

#endif
