// SPDX-License-Identifier: BSD-2-Clause
#include "cli/environment.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 64

/* NULL: it is not set, or empty. */
static const char *value_of(const char *prefix, const struct option *option,
			    char name[NAME_BYTES])
{
	const char *value;

	if (!option->name || option->kind == OPTION_HABIT)
		return NULL;
	snprintf(name, NAME_BYTES, "%s%s", prefix, option->name);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	value = getenv(name);
	return value && *value ? value : NULL;
}

/* The bytes of all that will be read. */
static size_t bytes_of(const char *prefix, const struct option *options)
{
	char name[NAME_BYTES];
	size_t n = 1;

	for (const struct option *o = options; o->kind != OPTION_END; o++) {
		const char *value = value_of(prefix, o, name);

		n += value ? strlen(value) + 1 : 0;
	}
	return n;
}

/* value: a copy, which strings point into. */
static int read_value(const struct option *option, char *value, void *into)
{
	char *next = value;
	int err = 0;

	if (option->kind != OPTION_STRINGS)
		return config_value(option, value, into);
	while (!err && (value = strsep(&next, ",")) != NULL)
		err = config_value(option, value, into);
	return err;
}

static int fail_variable(const char *name)
{
	AUTO_FREE char *why = strdup(error_sentence());
	AUTO_FREE char *hint = strdup(error_hint());
	int err = fail(-EINVAL, "%s: %s", name, why ? why : "");

	return hint && *hint ? fail_hint(err, "%s", hint) : err;
}

int environment_read(const char *prefix, const struct given *given, void *into,
		     uint64_t *ret_seen, char **ret_text)
{
	AUTO_FREE char *text = malloc(bytes_of(prefix, given->options));
	char *end = text, name[NAME_BYTES];
	uint64_t seen = 0;

	if (!text)
		return fail(-ENOMEM, "no memory for the environment");
	for (const struct option *o = given->options; o->kind != OPTION_END; o++) {
		const char *value = value_of(prefix, o, name);
		char *copy = end;

		if (!value || options_given(given, o->name))
			continue;
		end = stpcpy(copy, value) + 1;
		if (read_value(o, copy, into))
			return fail_variable(name);
		seen |= 1ULL << (o - given->options);
	}
	*ret_seen = seen;
	*ret_text = GIVE(text);
	return 0;
}
