// SPDX-License-Identifier: BSD-2-Clause
#include "agent/label_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void label_set_free(struct label_set *set)
{
	str_free(&set->text);
}

/* n: none of that name */
static size_t find(const struct label_set *set, const char *name)
{
	size_t i = 0;

	while (i < set->n && strcmp(set->text.s + set->at[i].name, name) != 0)
		i++;
	return i;
}

/* With its NUL; where it lies. */
static size_t keep(struct label_set *set, const char *s, size_t n)
{
	size_t at = set->text.n;

	str_add_bytes(&set->text, s, n);
	str_add_char(&set->text, '\0');
	return at;
}

void label_set_put(struct label_set *set, const char *name, const char *value)
{
	size_t i = find(set, name), name_at;
	char own_name[256], clean[LABEL_VALUE_BYTES_MAX + 1];

	if (!*value) {
		if (i < set->n)
			label_set_remove(set, i);
		return;
	}
	if (i == SERIES_LABELS_MAX) {
		set->is_full = true;
		return;
	}
	/* what both point to moves with the text */
	snprintf(own_name, sizeof(own_name), "%s", name);
	str_clean(clean, sizeof(clean), value, strlen(value));
	name_at = i < set->n ? set->at[i].name : keep(set, own_name, strlen(own_name));
	set->at[i].name = name_at;
	set->at[i].value = keep(set, clean, strlen(clean));
	if (set->text.failed)
		set->n = 0;
	else if (i == set->n)
		set->n++;
}

void label_set_remove(struct label_set *set, size_t i)
{
	memmove(&set->at[i], &set->at[i + 1], (--set->n - i) * sizeof(set->at[0]));
}

const char *label_set_get(const struct label_set *set, const char *name)
{
	size_t i = find(set, name);

	return i < set->n ? set->text.s + set->at[i].value : "";
}

static int by_name(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return strcmp(x->name, y->name);
}

size_t label_set_list(const struct label_set *set, struct label ret[SERIES_LABELS_MAX])
{
	for (size_t i = 0; i < set->n; i++)
		ret[i] = label_set_at(set, i);
	if (set->n)
		qsort(ret, set->n, sizeof(*ret), by_name);
	return set->n;
}
