/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runtimes that name the code they generate, or keep frame pointers in it, if they are
 * asked to, by the file that such a process maps.
 */
#ifndef WEFT_RECORD_RUNTIMES_H
#define WEFT_RECORD_RUNTIMES_H

#include "core/module.h"

/* What makes it write a map of its code, as "node --perf-basic-prof"; NULL: it is none of
 * them. */
const char *runtime_that_names(const char *path);

/* What makes its generated code keep frame pointers; NULL: nothing, or it does anyway. */
const char *runtime_that_keeps_fp(const char *path);

/* Does the same make it name its code? */
bool runtime_names_by(const char *keeps_fp);

/* Which of a recording's runtimes is meant. */
struct runtime_search {
	const struct module_table *modules;
	uint32_t pid;				/* whose generated code it is */
	const char *(*asked)(const char *path); /* one of the above */
	bool (*is_sampled)(const void *arg, uint32_t module);
	const void *arg;
};

/* What asked() says: of the process, if it maps one that was first seen there; else of
 * any that was sampled. NULL: there is none. */
const char *runtime_find(const struct runtime_search *search);

/* What makes an interpreter name what it runs, by a function of its own that is on the
 * stack; NULL: it is none of its, or nothing does. */
const char *interpreter_that_names(const char *path, const char *function);

/* Has who was asked so named this one? */
bool interpreter_has_named(const char *function);

#endif
