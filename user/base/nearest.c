// SPDX-License-Identifier: BSD-2-Clause
#include "base/nearest.h"

#include <string.h>

#define NAME_MAX 4096

/* Letters to change, insert or drop to make b of a; counts no further than most. */
static size_t distance(const char *a, const char *b, size_t most)
{
	enum { LONGEST = 40 };
	size_t row[LONGEST + 1] = { 0 };
	size_t n = strlen(b);

	if (n > LONGEST || strlen(a) > LONGEST)
		return most + 1;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0]++;

		for (size_t j = 0; j < n; j++) {
			size_t cost = corner + (a[i] != b[j]);

			corner = row[j + 1];
			if (cost > row[j] + 1)
				cost = row[j] + 1;
			if (cost > row[j + 1] + 1)
				cost = row[j + 1] + 1;
			row[j + 1] = cost;
		}
	}
	return row[n];
}

/* How well a name that holds the word is what was meant: 0 is not at all. */
static size_t likeness(const char *known, const char *word)
{
	const char *at = strstr(known, word);

	if (!at)
		return 0;
	return (at == known ? 2 * NAME_MAX : NAME_MAX) -
	       (strlen(known) < NAME_MAX ? strlen(known) : NAME_MAX - 1);
}

const char *nearest_word(const char *word, word_source next, const void *arg)
{
	size_t best_distance = strlen(word) > 4 ? 2 : 1, most = 0;
	const char *best = NULL, *holds = NULL;
	const char *known;
	size_t n = strlen(word);

	for (size_t i = 0; (known = next(arg, i)); i++) {
		size_t d = distance(word, known, best_distance);
		size_t like = n >= 2 ? likeness(known, word) : 0;

		if (*known && d <= best_distance && (!best || d < best_distance)) {
			best_distance = d;
			best = known;
		}
		if (like > most) {
			most = like;
			holds = known;
		}
	}
	return best ? best : holds;
}
