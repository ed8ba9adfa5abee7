/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output that is there whole or not at all: written beside its place and
 * moved there at the end. "-" is stdout.
 */
#ifndef WEFT_BASE_OUTFILE_H
#define WEFT_BASE_OUTFILE_H

#include "base/cleanup.h"

#include <stddef.h>

/* Replaces path by these bytes; what was there stays when anything fails. */
int outfile_write(const char *path, const void *bytes, size_t n);

/* The same for what is not known at once: it is there after _finish() only. */
struct outfile;

int outfile_new(struct outfile **ret, const char *path);
/* A private file of this name in a folder, a descriptor that is borrowed; a link of
 * that name is replaced, not followed. -EBUSY: one of this name is not finished yet. */
int outfile_new_in(struct outfile **ret, int folder, const char *name);

/* Only memory, as long as *ret is there; *ret_fd is borrowed from it. */
int outfile_new_memory(struct outfile **ret, int *ret_fd);

int outfile_add(struct outfile *file, const void *bytes, size_t n);
/* What was added is on the disk, whatever happens to the machine; before _finish(). */
int outfile_sync(struct outfile *file);
int outfile_finish(struct outfile *file);
void outfile_free(struct outfile *file); /* NULL is fine */
DEFINE_FREEP(outfile)

/* What is in it can be read though it ends early: _abandon() leaves it. */
void outfile_keep_when_cut(struct outfile *file);

/* In a signal's handler that ends us: removes what is not whole, or says on stderr
 * where it is; and this line, if there is one. */
void outfile_abandon(const char *last_words);

#endif
