/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording on its way into a file, docs/format.md. It is added to while the
 * recording runs, a batch a second, and what was added can be read whatever
 * happens next. Names, which come last, are added by _end().
 */
#ifndef WEFT_FORMAT_WEFT_WEFT_WRITE_H
#define WEFT_FORMAT_WEFT_WEFT_WRITE_H

#include "base/outfile.h"
#include "core/profile.h"

struct weft_stream;

/* out is borrowed. */
int weft_stream_new(struct weft_stream **ret, struct outfile *out);
void weft_stream_free(struct weft_stream *stream);
DEFINE_FREEP(weft_stream)

/* What came to the profile since; the same profile each time. timeline: where
 * its sample keys and seconds are, flushed. */
int weft_stream_add(struct weft_stream *stream, const struct profile *profile,
		    const struct timeline *timeline);

/* The rest, and what changed of what was written. */
int weft_stream_end(struct weft_stream *stream, const struct profile *profile);

uint64_t weft_stream_bytes(const struct weft_stream *stream);

#endif
