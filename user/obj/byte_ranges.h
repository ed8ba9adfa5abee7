/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which bytes of a file something was made from, and their hash.
 *
 * What a parser reads first does not depend on the file; what it reads next
 * depends on nothing but what it has read, and on the file's size. So another
 * file of that size, with the same bytes in these ranges, makes it read the same
 * ranges and comes to the same: the hash of both, sizes and bytes, says that it
 * would. The bytes are hashed as the parser gets them, so whoever changes the
 * file meanwhile does not come between.
 */
#ifndef WEFT_OBJ_BYTE_RANGES_H
#define WEFT_OBJ_BYTE_RANGES_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTE_RANGES_MAX 2000 /* 128 MB of code in the pieces of unwind/unwind_fp.c */

struct byte_range {
	uint64_t offset, bytes;
};

/* Plain data: it crosses the worker's socket as bytes, as many as there are ranges. */
struct byte_ranges {
	uint64_t file_bytes;
	uint32_t n;
	uint32_t reserved;
	struct byte_range ranges[BYTE_RANGES_MAX];
};

/* How many of its bytes are in use. */
size_t byte_ranges_size(uint32_t n);

/* Is it one: these bytes long, with all of its ranges in the file, at most
 * ELF_READ_MAX altogether? */
bool byte_ranges_valid(const struct byte_ranges *list, size_t bytes);

/* What is read is recorded here; {0} with begin. */
struct range_recorder {
	struct byte_ranges list;
	struct hasher hasher;
	bool incomplete; /* more ranges than there is room, or a read that failed */
};

void range_recorder_begin(struct range_recorder *recorder, uint64_t file_bytes);
void range_recorder_add(struct range_recorder *recorder, uint64_t offset,
			const void *bytes, size_t n);

/* False: what was read can't be told. */
bool range_recorder_end(struct range_recorder *recorder, struct hash *ret);

/* The hash of a list's ranges as the file is now; fd is borrowed. -EBADMSG: the
 * file has another size. */
int byte_ranges_hash(int fd, const struct byte_ranges *list, struct hash *ret);

/* The ranges by which a file of this size is looked up, without parsing it: its
 * first and its last bytes, headers of either kind and mostly a build id. */
void byte_ranges_of_ends(struct byte_ranges *list, uint64_t file_bytes);

#endif
