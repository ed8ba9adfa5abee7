/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a file or of stdin, one after another, unpacked when they are
 * gzip's. What ends in the middle of its packing is at its end there, and says
 * so.
 */
#ifndef WEFT_FORMAT_SOURCE_H
#define WEFT_FORMAT_SOURCE_H

#include "base/cleanup.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* perf puts some 7 KiB of comments first, more on a machine of many CPUs. */
#define SOURCE_HEAD_BYTES (64u << 10)

struct source;

/* "-" is stdin. */
int source_new(struct source **ret, const char *path);
void source_free(struct source *source);
DEFINE_FREEP(source)

/* The first bytes of all, without taking them: at most SOURCE_HEAD_BYTES, fewer at
 * the end. Before anything is read. */
const char *source_head(struct source *source, size_t *ret_n);

/* Up to n bytes; fewer only at the end. */
size_t source_read(struct source *source, void *bytes, size_t n);

/* The next line without its newline, of at most `most` bytes: "…#" and the hash of
 * the rest stand behind those of a longer one. False at the end. */
bool source_line(struct source *source, struct str *ret, size_t most);

/* -errno of a read that failed, else 0. */
int source_error(const struct source *source);
bool source_was_cut(const struct source *source); /* in the middle of gzip's */
const char *source_name(const struct source *source);

/* How many bytes of the file were read so far, packed as they are; 0: a pipe does not
 * tell. */
size_t source_packed_bytes(const struct source *source);

#endif
