/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that copy stacks, as greenlet's and PyPy's do: one is saved, the stack
 * pointer goes where another was, and that one is put back in its place. What begins such
 * a stack never returns, and nobody who lies behind it called it.
 */
#ifndef WEFT_UNWIND_STACK_COPIER_H
#define WEFT_UNWIND_STACK_COPIER_H

#include "unwind/function_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_COPIER_MAX 512u /* bytes of such a function: theirs have 130 at most */

struct stack_copier {
	size_t taken;  /* behind what takes the stack pointer */
	size_t copied; /* behind the call that puts the other stack back */
	/* the frame pointer as well: so nothing else leads to the caller */
	bool takes_fp;
};

/* Is it one? It calls somebody, who says where the stack is to be, or how far from here,
 * puts the stack pointer there, and calls again in the straight code behind that. */
bool stack_copier_find(const struct function_code *in, struct stack_copier *ret);

/* May one of n bytes of code be what takes it, in a function of that kind? Most code has
 * none. Of arm64's they are whole instructions. */
bool stack_copier_may_take(uint16_t machine, const uint8_t *code, size_t n);

#endif
