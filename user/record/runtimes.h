/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runtimes that name the code they generate, if they are asked to, by the file that such
 * a process maps.
 */
#ifndef WEFT_RECORD_RUNTIMES_H
#define WEFT_RECORD_RUNTIMES_H

/* What makes it write a map of its code, as "node --perf-basic-prof"; NULL: it is none of
 * them. */
const char *runtime_that_names(const char *path);

#endif
