/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared libraries that are loaded when a process first needs them: whoever does not use
 * one need not have it. A static weft (make static) can load none.
 */
#ifndef WEFT_BASE_LIBRARY_H
#define WEFT_BASE_LIBRARY_H

#include <stdbool.h>

/* false: weft is static. */
bool library_can_load(void);

/* NULL: it can't be loaded. It stays loaded. */
void *library_load(const char *name);

/* NULL: it has no such function. */
void *library_function(void *library, const char *name);

/* 0, or -ENOSYS with a sentence: what needs this library, which a static weft lacks. */
int library_require(const char *what, const char *library);

#endif
