/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves out of a profile all samples but those asked for. Conditions on
 * different keys must all hold, of those on one key any. Patterns are whole
 * names, where * stands for anything and ? for a character.
 */
#ifndef WEFT_CORE_FILTER_H
#define WEFT_CORE_FILTER_H

#include "core/profile.h"

enum filter_key {
	FILTER_BY_COMM,
	FILTER_BY_PID,
	FILTER_BY_TID,
	FILTER_BY_CONTAINER,
	FILTER_BY_HOST,
	FILTER_BY_MODULE,   /* some frame of the view lies in it */
	FILTER_BY_FUNCTION, /* some frame of the view is it */
	FILTER_BY_TIME,	    /* "FROM..TO", seconds from the first sample's */
	FILTER_KEYS
};

extern const char *const filter_key_names[FILTER_KEYS];

/* The same as a word_source. */
const char *filter_key_name(const void *none, size_t i);

#define CONDITIONS_MAX 32

struct condition {
	enum filter_key key;
	const char *pattern;   /* borrowed */
	uint32_t from_s, to_s; /* FILTER_BY_TIME: to_s is not in it any more */
};

struct filter {
	struct condition conditions[CONDITIONS_MAX];
	unsigned int n;
};

/* "comm=redis*". 0 or -EINVAL; text is borrowed. */
int filter_add(struct filter *filter, const char *text);

/* 0 also when nothing is left; then hint, if there is one, says which name is
 * near the condition that none met. */
int profile_filter(struct profile *profile, const struct filter *filter, enum view view,
		   struct str *hint);

/* Without the kernel's frames, which lie at the leaf: what fell in them counts
 * for who called. */
void profile_drop_kernel(struct profile *profile);

/* Without inlined functions: what fell in them counts for the function that holds
 * their code. 0 or -ENOMEM. */
int profile_drop_inlined(struct profile *profile);

#endif
