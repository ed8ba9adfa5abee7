/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder that a cache's entries are in: whose it is, and how much of it there
 * may be. It is used only if it is ours and nobody else's; what lies in it and is
 * no entry is left alone.
 */
#ifndef WEFT_UNWIND_FOLDER_H
#define WEFT_UNWIND_FOLDER_H

#include "base/hash.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDER_NAME_BYTES (2 * sizeof(struct hash) + 1)

struct folder {
	int fd; /* -1: not open */
	char path[PATH_MAX];
};

/* Opens what where says, or the default (NULL); makes it if may_make. 0, or a
 * negative errno that folder_close() follows as well. */
int folder_open(struct folder *folder, const char *where, bool may_make);
void folder_close(struct folder *folder);

void folder_name(const struct hash *hash, char ret[FOLDER_NAME_BYTES]);

/* An entry to be read: its descriptor, or -ENOENT, or another negative errno for
 * what is none of ours, not a file, or larger than most. */
int folder_read(const struct folder *folder, const char *name, uint64_t most,
		uint64_t *ret_bytes);

struct folder_sum {
	unsigned long entries;
	uint64_t bytes;
};

/* What is in it, once entries were removed, the longest unused first, until there
 * are at most so many bytes. */
int folder_trim(const struct folder *folder, uint64_t most, struct folder_sum *ret,
		unsigned long *ret_removed);

#endif
