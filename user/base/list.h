/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of words with commas between them, "a,b,c". */
#ifndef WEFT_BASE_LIST_H
#define WEFT_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The next word, which may be empty, and behind it; false: the last one was before. */
static inline bool list_next(const char **at, const char **ret, size_t *ret_n)
{
	size_t n = strcspn(*at, ",");

	if (!**at)
		return false;
	*ret = *at;
	*ret_n = n;
	*at += n + ((*at)[n] == ',');
	return true;
}

/* Which word of a list this one of n bytes is, from 0; -1: none. */
static inline int list_place(const char *list, const char *word, size_t n)
{
	const char *one;
	size_t length;

	for (int place = 0; list_next(&list, &one, &length); place++)
		if (length == n && !memcmp(one, word, n))
			return place;
	return -1;
}

#endif
