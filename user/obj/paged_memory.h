/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a file as memory, packed or not, for libraries that want all of it at once
 * and look at little. A part is read a window at a time, when somebody looks there (the
 * access faults, and a handler of SIGSEGV reads), and each part keeps only so many bytes:
 * what came first is let go of, and comes again when it is looked at again. So it looks
 * like memory that holds everything, at any time, for one thread that only reads it by
 * itself: system calls that are handed such an address fail.
 *
 * The file is read, never mapped: another process may truncate it. What can't be read
 * is zeroes, and the memory then says so: whoever reads asks before believing anything.
 */
#ifndef WEFT_OBJ_PAGED_MEMORY_H
#define WEFT_OBJ_PAGED_MEMORY_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGED_WINDOW	(64u << 10) /* bytes that come at once */
#define PAGED_PARTS_MAX 32
#define PAGED_BYTES_MAX (1ULL << 30) /* of all parts */

struct paged_part {
	uint64_t offset, n; /* in the file */
	uint64_t size;	    /* in memory: n, if it is not packed */
	uint64_t keep;	    /* bytes that may be held, two windows at least */
	bool is_packed;	    /* by zlib */
	uint64_t at;	    /* set: from the memory's start */
};

struct paged_memory;

/* fd is borrowed; the first head bytes are plain memory. 0, -ENOMEM, -EFBIG of too
 * much, or -EBADMSG of sizes that can't be. */
int paged_memory_new(struct paged_memory **ret, int fd, size_t head,
		     struct paged_part *parts, size_t n);
void paged_memory_free(struct paged_memory *memory);
DEFINE_FREEP(paged_memory)

void *paged_memory_start(const struct paged_memory *memory, size_t *ret_bytes);

/* 0, or what went wrong since it was made. */
int paged_memory_error(const struct paged_memory *memory);

#endif
