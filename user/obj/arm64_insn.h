/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an arm64 instruction goes on; what it does to the stack is
 * unwind/arm64_stack.h's.
 */
#ifndef WEFT_OBJ_ARM64_INSN_H
#define WEFT_OBJ_ARM64_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define ARM64_INSN_BYTES 4
#define ARM64_NOP	 0xd503201fu

/* It leaves a return address. */
bool arm64_insn_calls(uint32_t insn);

/* It never goes on behind itself. *ret_by_register: but where a register says. */
bool arm64_insn_leaves(uint32_t insn, bool *ret_by_register);

/* How far from itself a direct jump or call leads, in bytes; false: it is none. */
bool arm64_insn_distance(uint32_t insn, int64_t *ret);

/* nop, brk, or no instruction */
bool arm64_insn_is_padding(uint32_t insn);

#endif
