/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration file: sections of `key = value`, read by the same tables as options,
 * so that `window = 10s` is what --window=10s is. A line has 200 bytes at most.
 */
#ifndef WEFT_CLI_CONFIG_FILE_H
#define WEFT_CLI_CONFIG_FILE_H

#include "cli/options.h"

#define CONFIG_BYTES_MAX (1u << 20)

struct config_section {
	const char *name; /* "agent"; of a kind that has names: "receiver" */
	const struct option *options;
	/* Where the values of a section go. title: what follows the name, "" if nothing
	 * does. NULL, with the sentence: no such section can be had. The same for each
	 * key of it. */
	void *(*place)(void *arg, const char *title);
	/* Where in that, a uint64_t: bit i is set once the file has options[i]. */
	size_t seen_offset;
	const struct given
		*given; /* what the command line said, which goes before; NULL */
};

/*
 * Reads it all: strings that options take point into *ret_text, which the caller frees
 * after them. 0, or a negative errno; the sentence names the file and the line.
 */
int config_read(const char *path, const struct config_section *sections, size_t n,
		void *arg, char **ret_text);

/* The value of an option where there is no command line: yes or no of a flag. 0, or
 * -EINVAL with sentence and hint; strings are borrowed. */
int config_value(const struct option *option, const char *value, void *into);

/* A file as text, of at most CONFIG_BYTES_MAX; the caller frees it. */
int config_read_text(const char *path, char **ret);

/* The same of one that must not be for everybody to read. */
int config_read_private(const char *path, char **ret);

/* The first line of such a file, a token or a password; the caller frees it. */
int config_read_secret(const char *path, char **ret);

#endif
