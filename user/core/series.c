// SPDX-License-Identifier: BSD-2-Clause
#include "core/series.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define SERIES_NAMES_MAX  256 /* of all sets; a full table gives set 0 */
#define SERIES_VALUES_MAX (SERIES_MAX * SERIES_LABELS_MAX)
#define VALUE_BYTES_MAX	  (4u << 20) /* of all */

void series_free(struct series *series)
{
	if (!series)
		return;
	intern_free(series->names);
	intern_free(series->values);
	intern_free(series->sets);
	vec_free(&series->by_process);
	free(series);
}

/* 0, INTERN_FULL, or -ENOMEM. */
static int add_set(struct series *series, const struct label *labels, size_t n,
		   uint32_t *ret)
{
	struct series_pair pairs[SERIES_LABELS_MAX];
	int err = 0;

	n = n < SERIES_LABELS_MAX ? n : SERIES_LABELS_MAX;
	for (size_t i = 0; !err && i < n; i++) {
		err = intern_id(series->names, labels[i].name, strlen(labels[i].name),
				&pairs[i].name);
		if (!err)
			err = intern_id(series->values, labels[i].value,
					strlen(labels[i].value), &pairs[i].value);
	}
	return err ? err : intern_id(series->sets, pairs, n * sizeof(*pairs), ret);
}

int series_new(struct series **ret, const struct label *labels, size_t n)
{
	AUTO(series) series = calloc(1, sizeof(*series));
	uint32_t first;
	int err;

	if (!series)
		return fail(-ENOMEM, "no memory for series");
	err = intern_new(&series->names, SERIES_NAMES_MAX);
	if (!err)
		err = intern_new(&series->values, SERIES_VALUES_MAX);
	if (!err)
		err = intern_new(&series->sets, SERIES_MAX);
	if (!err)
		err = add_set(series, labels, n, &first);
	if (err)
		return err;
	intern_limit_bytes(series->values, VALUE_BYTES_MAX);
	*ret = GIVE(series);
	return 0;
}

int series_add(struct series *series, const struct label *labels, size_t n)
{
	uint32_t set = 0;
	int err = add_set(series, labels, n, &set);

	if (err < 0)
		return err;
	if (err == INTERN_FULL) {
		series->crowded++;
		set = 0;
	}
	return vec_push(&series->by_process, set);
}

int series_add_none(struct series *series)
{
	return vec_push(&series->by_process, SERIES_NONE);
}

const struct series_pair *series_pairs(const struct series *series, uint32_t set,
				       size_t *ret_n)
{
	size_t bytes;
	const struct series_pair *pairs = intern_bytes(series->sets, set, &bytes);

	*ret_n = bytes / sizeof(*pairs);
	return pairs;
}

bool series_has(const struct series *series, const char *name)
{
	for (uint32_t i = 0; series && i < intern_count(series->names); i++)
		if (!strcmp(intern_string(series->names, i), name))
			return true;
	return false;
}
