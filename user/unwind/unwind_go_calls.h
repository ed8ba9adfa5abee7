/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where runtime.newstack, which makes a goroutine's stack larger, gives the thread to
 * another goroutine instead and does not come back: nobody called what runs then. The
 * thread's goroutine is another one soon, and is not the caller either.
 */
#ifndef WEFT_UNWIND_UNWIND_GO_CALLS_H
#define WEFT_UNWIND_UNWIND_GO_CALLS_H

#include "unwind/unwind_go.h"

/* Those calls of the function, in rising order, into go->calls; if there are some,
 * go->knows_scheduler. */
void go_calls_find(struct unwind_go *go, const struct go_function *function);

/* A row, but for these calls; those before it come first. */
int go_calls_tell(struct unwind_go *go, uint64_t pc, const struct unwind_rule *rule);

/* What is left of them at the function's end. */
int go_calls_end(struct unwind_go *go, uint64_t end);

#endif
