/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is counted, in words: the lists of include/shared/ and of names as tables, once,
 * for every place that names a count.
 */
#ifndef WEFT_CORE_COUNTED_H
#define WEFT_CORE_COUNTED_H

#include "base/str.h"
#include "core/names.h"
#include "shared/losses.h"

#include <stdbool.h>

struct counted {
	const char *name; /* NO_USER; in files and JSON small: str_add_lower() */
	const char *text;
	bool is_loss; /* of outcomes */
};

enum {
#define X(name, bit, text) +1
	N_SAMPLE_FLAGS = 0 SAMPLE_FLAGS(X)
#undef X
};

extern const struct counted counted_hooks[N_HOOKS]; /* name: as in files */
extern const struct counted counted_endings[N_ENDINGS];
extern const struct counted counted_outcomes[N_OUTCOMES];
extern const struct counted counted_flags[N_SAMPLE_FLAGS];
extern const struct counted counted_origins[N_NAME_ORIGINS]; /* of names */

#endif
