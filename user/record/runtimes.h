/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runtimes that name the code they generate, or keep frame pointers in it, if they are
 * asked to, by the file that such a process maps.
 */
#ifndef WEFT_RECORD_RUNTIMES_H
#define WEFT_RECORD_RUNTIMES_H

#include <stdbool.h>

/* What makes it write a map of its code, as "node --perf-basic-prof"; NULL: it is none of
 * them. */
const char *runtime_that_names(const char *path);

/* What makes its generated code keep frame pointers; NULL: nothing, or it does anyway. */
const char *runtime_that_keeps_fp(const char *path);

/* What makes an interpreter name what it runs, by a function of its own that is on the
 * stack; NULL: it is none of its, or nothing does. */
const char *interpreter_that_names(const char *path, const char *function);

/* Has who was asked so named this one? */
bool interpreter_has_named(const char *function);

#endif
