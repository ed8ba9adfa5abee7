// SPDX-License-Identifier: BSD-2-Clause
#include "base/glob.h"

#include <stddef.h>

/* Behind the character that s begins with: UTF-8's further bytes are its own. */
static const char *after_character(const char *s)
{
	do
		s++;
	while (((unsigned char)*s & 0xc0) == 0x80);
	return s;
}

/* Only the last star has to be tried again: what comes before it fits as soon as
 * it can. So it takes at most the product of both lengths. */
bool glob_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern == '?') {
			pattern++;
			name = after_character(name);
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
