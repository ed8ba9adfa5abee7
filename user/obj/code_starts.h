/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions begin in code of which neither symbols nor call frame information
 * tell: assembly in a stripped file, or all of one without unwinding. By its
 * instructions alone: behind one that never goes on, or a call if the place is called,
 * too, where no conditional jump of what came before leads beyond. A switch's table is
 * not read, so a function's parts may pass for functions; two are one only where the
 * first jumps into the second's middle. x86-64 and arm64.
 */
#ifndef WEFT_OBJ_CODE_STARTS_H
#define WEFT_OBJ_CODE_STARTS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_STARTS_MAX (4u << 20) /* bytes of code at a time */

struct code_text {
	const uint8_t *bytes; /* borrowed */
	size_t n;	      /* <= CODE_STARTS_MAX */
	uint64_t vaddr;
	bool is_arm64;
	bool is_begun; /* a function begins with its first byte, which may be padding */
};

struct code_starts; /* in rising order */

bool code_starts_knows(uint16_t machine); /* EM_… */

/* 0 or -ENOMEM. */
int code_starts_new(struct code_starts **ret, const struct code_text *text);
void code_starts_free(struct code_starts *starts); /* NULL is fine */
DEFINE_FREEP(code_starts)

/* The next one, as an offset into the text; false: there are no more. */
bool code_starts_next(struct code_starts *starts, size_t *ret);

/* The first place from there on that a call of this text leads to, or the text's end. */
size_t code_starts_called(const struct code_starts *starts, size_t from);

#endif
