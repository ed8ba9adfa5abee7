/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes as a thread writes them: an index, a length and a value each. They are
 * anybody's bytes, which ticks copied as they were. */
#ifndef WEFT_RECORD_ATTRIBUTE_PAIRS_H
#define WEFT_RECORD_ATTRIBUTE_PAIRS_H

#include "record/context_values.h"
#include "record/declared.h"

#include <stdbool.h>
#include <stddef.h>

struct attribute_value {
	const unsigned char *bytes; /* NULL: there is none */
	size_t n;
};

/* Those that are allowed, by their number; of several with one key the last. What the
 * bytes end in the middle of is none. keys NULL: none is known. True: it has some that
 * have no key. */
bool attribute_pairs_pick(const unsigned char *bytes, size_t n,
			  const struct attribute_keys *keys,
			  struct attribute_value values[ATTRIBUTE_NAMES_MAX]);

#endif
