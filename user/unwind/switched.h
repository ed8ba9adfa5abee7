/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a switch of stacks goes on with (x86-64): behind the load of the stack pointer,
 * the code itself tells by how it leaves where on the other stack its caller's return
 * address lies, as boost.context's jump_fcontext() does.
 */
#ifndef WEFT_UNWIND_SWITCHED_H
#define WEFT_UNWIND_SWITCHED_H

#include "unwind/cfi.h"

#define SWITCHED_ROWS_MAX 16

struct switched {
	size_t n;
	struct {
		size_t at; /* in the code */
		struct unwind_rule rule;
	} rows[SWITCHED_ROWS_MAX];
};

/* Does a jump at `at`, on a condition, skip no more than what is the same to all that is
 * told here, as the load of a control word? */
bool switched_is_skip(const uint8_t *code, size_t at, size_t end);

/* Of straight code, but for such jumps, [begin, end) that begins behind that load and
 * ends by leaving. False: it does not tell. */
bool switched_find(const uint8_t *code, size_t begin, size_t end, struct switched *ret);

#endif
