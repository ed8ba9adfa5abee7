// SPDX-License-Identifier: BSD-2-Clause
#include "format/writer.h"

#include <string.h>

#define X(name) &name##_writer,
const struct writer *const writers[] = { WRITERS(X) NULL };
#undef X

const struct writer *const writer_usual = &folded_writer;

const struct writer *writer_named(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (!strcmp(writers[i]->name, name))
			return writers[i];
	return NULL;
}

const char *writer_name(const void *none, size_t i)
{
	return writers[i] ? writers[i]->name : NULL;
}

static bool ends_with(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && !strcmp(path + n - m, ending);
}

const struct writer *writer_for(const char *path)
{
	const struct writer *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; writers[i]; i++)
		for (size_t k = 0; k < WRITER_ENDINGS_MAX && writers[i]->endings[k];
		     k++) {
			const char *ending = writers[i]->endings[k];

			if (ends_with(path, ending) && strlen(ending) > longest) {
				longest = strlen(ending);
				best = writers[i];
			}
		}
	return best;
}
