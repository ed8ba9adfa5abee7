/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats that a profile can be read from, as a list. What a file is, its
 * first bytes say, never its name. All bytes are hostile.
 */
#ifndef WEFT_FORMAT_READER_H
#define WEFT_FORMAT_READER_H

#include "core/profile.h"
#include "format/source.h"

struct reader {
	const char *name;
	bool (*accepts)(const char *head, size_t n);
	/* Into a new profile. What ends or is damaged in its middle is read up to
	 * there, and says so in was_cut. 0 or a negative errno. */
	int (*read)(struct source *source, struct profile *profile);
};

/* One for each format that can be read; the first that accepts the head reads it. */
#define READERS(X) X(weft) X(perf) X(folded) X(pprof)

#define X(name) extern const struct reader name##_reader;
READERS(X)
#undef X

/* A file, or "-" for stdin. -EBADMSG: nothing that we know. */
int reader_read(const char *path, struct profile **ret);

#endif
