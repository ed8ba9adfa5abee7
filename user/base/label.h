/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels as Prometheus has them, which servers of profiles follow. */
#ifndef WEFT_BASE_LABEL_H
#define WEFT_BASE_LABEL_H

#include <stdbool.h>

struct label {
	const char *name, *value;
};

/* Letters, digits and _, no digit first. */
static inline bool label_is_name(const char *name)
{
	if (*name >= '0' && *name <= '9')
		return false;
	for (const char *s = name; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || *s == '_'))
			return false;
	return *name;
}

#endif
