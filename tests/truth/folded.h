/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folded file, read. Strict: a line that is no folded stack is an error,
 * since it is the profiler's output that is under test.
 */
#ifndef TRUTH_FOLDED_H
#define TRUTH_FOLDED_H

#include "base/vec.h"

struct folded_stack {
	const char *comm;
	VEC(const char *) frames; /* root to leaf, without comm */
	size_t n_user;		  /* frames before the kernel's, which end in _[k] */
	unsigned long long count;
};

struct folded {
	char *text; /* frames point into it */
	VEC(struct folded_stack) stacks;
	unsigned long long total;
};

/* 0, or a negative errno with the sentence kept. */
int folded_read(struct folded *ret, const char *path);
void folded_free(struct folded *folded); /* what it holds, not folded itself */

/* A whole file, NUL terminated; free() it. */
int folded_read_text(char **ret, const char *path);

#endif
