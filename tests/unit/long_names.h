/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of long names make and look at. */
#ifndef WEFT_TESTS_LONG_NAMES_H
#define WEFT_TESTS_LONG_NAMES_H

#include "elf_files.h"

/* Names in the order in which they were asked for. */
struct heard {
	char *names[64];
};

static inline UNUSED int hear(void *arg, size_t index, const char *name, uint64_t start)
{
	struct heard *heard = arg;

	assert_true(index < 64 && !heard->names[index]);
	heard->names[index] = strdup(name);
	return 0;
}

static inline UNUSED void forget(struct heard *heard)
{
	for (size_t i = 0; i < 64; i++)
		free(heard->names[i]);
	memset(heard, 0, sizeof(*heard));
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
