/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that copy stacks, as greenlet's and PyPy's do: one is saved, the stack
 * pointer goes where another was, and that one is put back in its place. What begins such
 * a stack never returns, and nobody who lies behind it called it.
 */
#ifndef WEFT_UNWIND_STACK_COPIER_H
#define WEFT_UNWIND_STACK_COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_COPIER_MAX 512u /* bytes of such a function: theirs have 130 at most */

/* All of a function, of EM_X86_64 or EM_AARCH64. */
struct function_code {
	uint16_t machine;
	const uint8_t *code;
	size_t n;
};

struct stack_copier {
	size_t taken;  /* behind what takes the stack pointer */
	size_t copied; /* behind the call that puts the other stack back */
};

/* Is it one? It calls somebody, who says where the stack is to be, or how far from here,
 * puts the stack pointer there, and calls again in the straight code behind that. */
bool stack_copier_find(const struct function_code *in, struct stack_copier *ret);

/* May one of n bytes of code be what takes it, in a function of that kind? Most code has
 * none. Of arm64's they are whole instructions. */
bool stack_copier_may_take(uint16_t machine, const uint8_t *code, size_t n);

/* May the code at `from` lead to where the function returns, or jumps elsewhere? In doubt
 * it does. What it calls comes back. */
bool stack_copier_may_return(const struct function_code *in, size_t from);

struct direct_call {
	size_t end; /* where it is come back to */
	int64_t to; /* from the first byte of who calls */
};

/* The first max of them at most; how many there are. */
size_t stack_copier_calls(const struct function_code *in, struct direct_call *ret,
			  size_t max);

#endif
