/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long an x86-64 instruction is, and where it goes on; what it does to the stack is
 * unwind/x86_stack.h's.
 */
#ifndef WEFT_OBJ_X86_INSN_H
#define WEFT_OBJ_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSN_MAX 15 /* bytes */
#define X86_NOP	     0x90
#define X86_INT3     0xcc

/* Its bytes, or 0: none that 64-bit user code has, or more than the n there are.
 * *ret_calls: it leaves a return address. */
size_t x86_insn_bytes(const uint8_t *code, size_t n, bool *ret_calls);

/* REX aside, which is the last of them. */
bool x86_insn_is_prefix(uint8_t byte);

/* Of one whole instruction of n bytes, as what follows: how far from its end a direct
 * jump or call leads, in bytes; false: it is none. */
bool x86_insn_distance(const uint8_t *code, size_t n, int64_t *ret);

/* Conditions, as instructions have them: 0 to 15. */
enum x86_condition {
	X86_IF_EQUAL = 4,
	X86_IF_NOT_EQUAL = 5,
	X86_IF_NEGATIVE = 8,
	X86_IF_LESS = 12,
};

/* A jump's condition; -1: it has none, or is no jump. */
int x86_insn_condition(const uint8_t *code, size_t n);

/* It puts an address into a register: which, if it ends at `end`. */
bool x86_insn_takes_address(const uint8_t *code, size_t n, uint64_t end, uint64_t *ret);

/* It never goes on behind itself. *ret_by_register: but where a register or memory
 * says. */
bool x86_insn_leaves(const uint8_t *code, size_t n, bool *ret_by_register);

/* A trap that says of what kind it is: clang's, for code that must not be come to. */
bool x86_insn_is_ud1(const uint8_t *code, size_t n);

/* The one of n bytes at an offset: is it rt_sigreturn()'s? The kernel made the frame
 * there, and nothing goes on behind it. */
bool x86_insn_leaves_handler(const uint8_t *code, size_t at, size_t n);

/* A ret that takes more off the stack than its return address: some words, not many. */
bool x86_insn_takes_args(const uint8_t *code, size_t n);

/* How many of n bytes are an endbr64 that they begin with: these, or 0. Compilers begin
 * with it what is jumped to by a register. */
#define X86_ENDBR64_BYTES 4
size_t x86_insn_endbr64(const uint8_t *code, size_t n);

/* nop, of any size, or int3 */
bool x86_insn_is_padding(const uint8_t *code, size_t n);

/* Zeroes in the place of instructions, up to where a function may begin, as Free Pascal
 * has them between functions: so many, or 0. They would otherwise take the next
 * function's first byte. behind_end: what lies before never goes on, so one is enough. */
size_t x86_insn_zeroes(const uint8_t *code, size_t n, uint64_t vaddr, bool behind_end);

/* How long a number is that an allocator keeps before its block of code: 8 bytes at such
 * an address, of which only the first two are none of 0; or 0: it is none. */
size_t x86_insn_number(const uint8_t *code, size_t n, uint64_t vaddr);

#endif
