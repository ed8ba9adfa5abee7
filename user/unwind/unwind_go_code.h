/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for one function of a Go program, by machine. Compiled code keeps to one form;
 * what is written in assembly is read.
 */
#ifndef WEFT_UNWIND_UNWIND_GO_CODE_H
#define WEFT_UNWIND_UNWIND_GO_CODE_H

#include "unwind/unwind_go.h"

#define GO_WORD		8
#define GO_DISTANCE_MAX (1 << 30) /* that sp is from where it was */

/* Rows from the function's beginning on, up to its end, where the next one's begin. */
int go_code_tell_x86(struct unwind_go *go, const struct go_function *function);
int go_code_tell_arm64(struct unwind_go *go, const struct go_function *function);

/* The goroutine's stack, once go->kept is known; how it goes on is up to the caller. */
struct unwind_rule go_code_kept_rule(const struct unwind_go *go);

/* The code in [pc, end), at most room bytes of it: how many; 0: it can't be read. */
size_t go_code_read(struct unwind_go *go, uint64_t pc, uint64_t end, uint8_t *ret,
		    size_t room);

bool go_code_is(const struct go_function *function, const char *name);

/* It has switched to the scheduler's stack for good, or to a new thread's. */
bool go_code_never_comes_back(const struct go_function *function);

/* Others' assembly may use the frame pointer for something else. */
bool go_code_is_of_runtime(const struct go_function *function);

#endif
