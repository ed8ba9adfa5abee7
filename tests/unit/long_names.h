/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of long names make and look at. */
#ifndef WEFT_TESTS_LONG_NAMES_H
#define WEFT_TESTS_LONG_NAMES_H

#include "elf_files.h"

/* Names in the order in which they were asked for. */
struct found_names {
	char *names[64];
};

static inline UNUSED int hear(void *arg, size_t index, const char *name, uint64_t start)
{
	struct found_names *found = arg;

	assert_true(index < 64 && !found->names[index]);
	found->names[index] = strdup(name);
	return 0;
}

static inline UNUSED void forget(struct found_names *found)
{
	for (size_t i = 0; i < 64; i++)
		free(found->names[i]);
	memset(found, 0, sizeof(*found));
}

/* n letters, of which the last is `last`. */
static inline UNUSED char *long_name(size_t n, char last)
{
	char *name = malloc(n + 1);

	assert_non_null(name);
	memset(name, 'a', n);
	name[n - 1] = last;
	name[n] = '\0';
	return name;
}

static inline UNUSED bool is_marked(const char *name)
{
	const char *mark = strstr(name, "…#");

	return mark && strspn(mark + 4, "0123456789abcdef") == 16;
}

#endif
