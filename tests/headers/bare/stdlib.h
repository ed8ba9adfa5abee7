/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

void *calloc(size_t n, size_t bytes);
void free(void *p);
__attribute__((noreturn)) void abort(void);

#endif
