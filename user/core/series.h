/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose the samples of a profile are, in the words of servers: a set of labels for each
 * process. Processes of one set are one series. Set 0 is what all profiles of a machine
 * have; those that find no room for a set of their own get it.
 */
#ifndef WEFT_CORE_SERIES_H
#define WEFT_CORE_SERIES_H

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/label.h"
#include "base/vec.h"

#include <stdint.h>

#define SERIES_MAX	  256 /* sets of a window */
#define SERIES_LABELS_MAX 64  /* of one */

struct series_pair {
	uint32_t name, value; /* of these tables */
};

struct series {
	struct intern *names, *values;
	struct intern *sets;	  /* of pairs, by name */
	VEC(uint32_t) by_process; /* a set, or SERIES_NONE; as many as were added */
	uint64_t crowded;	  /* processes without a set of their own */
};

#define SERIES_NONE UINT32_MAX /* a rule dropped it */

/* labels: of set 0. */
int series_new(struct series **ret, const struct label *labels, size_t n);
void series_free(struct series *series);
DEFINE_FREEP(series)

/* Of the next process, by the profile's numbers; labels sorted by name. 0 or -ENOMEM. */
int series_add(struct series *series, const struct label *labels, size_t n);
int series_add_none(struct series *series);

/* Those of a set. */
const struct series_pair *series_pairs(const struct series *series, uint32_t set,
				       size_t *ret_n);

static inline struct label series_label(const struct series *series,
					struct series_pair pair)
{
	return (struct label){ intern_string(series->names, pair.name),
			       intern_string(series->values, pair.value) };
}

/* Has any set a label of that name? NULL: there are no series. */
bool series_has(const struct series *series, const char *name);

#endif
