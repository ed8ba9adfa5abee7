/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats that a profile can be written in, as a list. A writer is one file
 * format/NAME/NAME_write.c with one entry here (writer.c); what it writes, it adds to the
 * outfile piece by piece, so that no output has to fit into memory.
 */
#ifndef WEFT_FORMAT_WRITER_H
#define WEFT_FORMAT_WRITER_H

#include "base/outfile.h"
#include "core/profile.h"

#include <stdbool.h>

struct writer_options {
	enum view view;	   /* shown first, or alone where the format has one stack */
	bool with_pid;	   /* folded: comm-pid as the first frame */
	const char *title; /* of a page; NULL: its own words */
};

#define WRITER_ENDINGS_MAX 4

struct writer {
	const char *name;			 /* for --format: "html" */
	const char *endings[WRITER_ENDINGS_MAX]; /* ".html"; NULL ends the list */
	const char *text;			 /* for --help */
	int (*write)(struct outfile *out, const struct profile *profile,
		     const struct writer_options *options);
};

extern const struct writer *const writers[]; /* ends with NULL */

/* By --format's word; NULL: none. */
const struct writer *writer_named(const char *name);

/* The names, as a word_source. */
const char *writer_name(const void *none, size_t i);

/* By how a path ends, the longest ending that fits; NULL: none. */
const struct writer *writer_for(const char *path);

/* One for each format: */
extern const struct writer weft_writer, folded_writer, pprof_writer, speedscope_writer,
	firefox_writer, svg_writer, html_writer;

#endif
