/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a function's code leads, within it, to others, and to none but its caller. */
#ifndef WEFT_UNWIND_FUNCTION_CODE_H
#define WEFT_UNWIND_FUNCTION_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_CODE_MAX 8192u /* bytes; of more nothing is told */

/* All of a function, of EM_X86_64 or EM_AARCH64. */
struct function_code {
	uint16_t machine;
	const uint8_t *code;
	size_t n;
};

/* May the code at `from` lead to where the function returns, or jumps elsewhere? In doubt
 * it does. What it calls comes back. */
bool function_may_return(const struct function_code *in, size_t from);

/* Does whoever calls it, directly, have its frame, as long as what it calls is at work?
 * It jumps nowhere else, nor does it return to an address of its own making, nor to its
 * caller's from where it has been called. In doubt it does. */
bool function_stays(const struct function_code *in);

struct direct_call {
	size_t end; /* where it is come back to */
	int64_t to; /* from the first byte of who calls */
};

/* The first max of them at most; how many there are. */
size_t function_calls(const struct function_code *in, struct direct_call *ret,
		      size_t max);

#endif
