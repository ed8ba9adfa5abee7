/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * V8's builtins, which it carries along in its host's file: x86-64 code without call
 * frame information, and without names in stripped builds. Their bytes say where they
 * begin, and which of them nobody calls.
 */
#ifndef WEFT_OBJ_V8_BUILTIN_H
#define WEFT_OBJ_V8_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define V8_BUILTIN_ALIGN   64 /* bytes; V8's kCodeAlignment */
#define V8_BUILTIN_PADDING 4  /* bytes of int3 before each, at least */

/* Are these what lies before a builtin? */
bool v8_builtin_is_before(const uint8_t padding[V8_BUILTIN_PADDING]);

/*
 * Of n bytes that a builtin begins with: is it there to be returned to? When a function
 * that others were inlined into gets something else than it was compiled for, V8 makes
 * their frames anew, each with one of these for a return address: nobody called there,
 * and no return address lies on the stack. It begins with what no function can: it loads
 * from its frame (mov -n(%rbp), %reg), or takes registers off the stack, with the result
 * put aside before or not.
 */
bool v8_builtin_is_returned_to(const uint8_t *code, size_t n);

#endif
