/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first function of a stack that a runtime made, written by hand and without call
 * frame information: it goes back to who resumed it by three words at its frame pointer
 * (wasmtime's wasmtime_continuation_start). Its own way back is the proof of where they
 * lie, and it holds wherever the frame pointer is that one.
 */
#ifndef WEFT_UNWIND_LAUNCHPAD_H
#define WEFT_UNWIND_LAUNCHPAD_H

#include "shared/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launchpad {
	struct unwind_rule rule;
	size_t torn_at, end; /* of the code: behind the frame pointer's load; its end */
};

/* Is the x86-64 function at `code`, of at most n bytes, one? */
bool launchpad_find(const uint8_t *code, size_t n, struct launchpad *ret);

#endif
