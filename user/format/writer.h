/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats that a profile can be written in, as a list. A writer is one file
 * format/NAME/NAME_write.c and a word in WRITERS(); what it writes, it adds to the
 * outfile piece by piece, so that no output has to fit into memory. All that others ask
 * of a format they find in its struct: nobody compares writers.
 */
#ifndef WEFT_FORMAT_WRITER_H
#define WEFT_FORMAT_WRITER_H

#include "base/cleanup.h"
#include "base/outfile.h"
#include "core/profile.h"
#include "core/series.h"

#include <stdbool.h>

struct writer_options {
	enum view view;	   /* shown first, or alone where the format has one stack */
	bool with_pid;	   /* folded: comm-pid as the first frame */
	const char *title; /* of a page; NULL: its own words */
	bool short_names;  /* of a page: core/short_names.h */
	const struct series *series; /* pprof: labels of processes; NULL: none */
};

/*
 * A file that is written while the recording runs: what was added can be read,
 * whatever happens next. Names, which come last, are added by end().
 */
struct stream {
	/* What came to the profile since; the same profile each time. timeline: where
	 * its sample keys and seconds are, flushed. */
	int (*add)(struct stream *stream, const struct profile *profile,
		   const struct timeline *timeline);
	/* The rest, and what changed of what was written. */
	int (*end)(struct stream *stream, const struct profile *profile);
	uint64_t (*bytes)(const struct stream *stream); /* written so far */
	void (*free)(struct stream *stream);
};

static inline void stream_free(struct stream *stream)
{
	if (stream)
		stream->free(stream);
}
DEFINE_FREEP(stream)

#define WRITER_ENDINGS_MAX 4
#define USUAL_OUTPUT	   "profile.weft" /* unless another is asked for */

struct writer {
	const char *name;			 /* for --format: "html" */
	const char *endings[WRITER_ENDINGS_MAX]; /* ".html"; NULL ends the list */
	const char *text; /* what it holds: sentences, for the man page */
	const char *next; /* the command that is worth typing now, before the output's
			     path; NULL: none */
	bool takes_usual; /* which needs no path of USUAL_OUTPUT */
	/* NULL: it is written at the end only. out is borrowed. */
	int (*stream)(struct stream **ret, struct outfile *out);
	int (*write)(struct outfile *out, const struct profile *profile,
		     const struct writer_options *options);
};

/* Where a profile is written to, and how. */
struct output_file {
	const char *path; /* "-" for stdout */
	const struct writer *writer;
};

extern const struct writer *const writers[]; /* ends with NULL */

/* By --format's word; NULL: none. */
const struct writer *writer_named(const char *name);

/* The names, as a word_source. */
const char *writer_name(const void *none, size_t i);

/* By how a path ends, the longest ending that fits; NULL: none. */
const struct writer *writer_for(const char *path);

/* What an output is in that has no ending. */
extern const struct writer *const writer_usual;

/* One for each format, in the order in which they are shown. */
#define WRITERS(X)                                                                       \
	X(weft)                                                                          \
	X(folded)                                                                        \
	X(pprof)                                                                         \
	X(speedscope)                                                                    \
	X(firefox)                                                                       \
	X(svg)                                                                           \
	X(html)

#define X(name) extern const struct writer name##_writer;
WRITERS(X)
#undef X

#endif
