/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats that a reading can be read from, as a list. What a file is, its
 * first bytes say, never its name. All bytes are hostile.
 */
#ifndef WEFT_FORMAT_READER_H
#define WEFT_FORMAT_READER_H

#include "core/reading.h"
#include "format/source.h"

struct reader {
	const char *name;
	bool (*accepts)(const char *head, size_t n);
	/* Into a new reading. What ends or is damaged in its middle is read up to
	 * there, and says so in was_cut. 0 or a negative errno. */
	int (*read)(struct source *source, struct reading *reading);
};

extern const struct reader weft_reader, perf_reader, folded_reader, pprof_reader;

/* A file, or "-" for stdin. -EBADMSG: nothing that we know. */
int reader_read(const char *path, struct reading **ret);

#endif
