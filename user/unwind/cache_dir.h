/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory that a cache's entries are in: whose it is, and how much of it there
 * may be. It is used only if it is ours and nobody else's; what lies in it and is
 * no entry is left alone.
 */
#ifndef WEFT_UNWIND_CACHE_DIR_H
#define WEFT_UNWIND_CACHE_DIR_H

#include "base/hash.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_DIR_NAME_BYTES (2 * sizeof(struct hash) + 1)

struct cache_dir {
	int fd; /* -1: not open */
	char path[PATH_MAX];
};

/* Opens what where says, or the default (NULL); makes it if may_make. 0, or a
 * negative errno that cache_dir_close() follows as well. */
int cache_dir_open(struct cache_dir *cache_dir, const char *where, bool may_make);
void cache_dir_close(struct cache_dir *cache_dir);

void cache_dir_name(const struct hash *hash, char ret[CACHE_DIR_NAME_BYTES]);

/* An entry to be read: its descriptor, or -ENOENT, or another negative errno for
 * what is none of ours, not a file, or larger than most. */
int cache_dir_read(const struct cache_dir *cache_dir, const char *name, uint64_t most,
		   uint64_t *ret_bytes);

struct cache_dir_sum {
	unsigned long entries;
	uint64_t bytes;
};

/* What is in it, once entries were removed, the longest unused first, until there
 * are at most so many bytes. */
int cache_dir_trim(const struct cache_dir *cache_dir, uint64_t most,
		   struct cache_dir_sum *ret, unsigned long *ret_removed);

/* Removes what was not used for so long. */
int cache_dir_expire(const struct cache_dir *cache_dir, int64_t age_s);

#endif
