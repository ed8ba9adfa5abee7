/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry of the cache, a file: a table's pages as they are, then what they were made
 * from, which has a hash, and by which the pages' sum is known. Its bytes are this
 * machine's. What is read is checked as if a stranger had written it.
 */
#ifndef WEFT_UNWIND_ENTRY_H
#define WEFT_UNWIND_ENTRY_H

#include "base/outfile.h"
#include "obj/byte_ranges.h"
#include "unwind/unwind_table.h"

#define ENTRY_BYTES_MAX	    (64u << 20) /* of a file; larger tables are made each time */
#define ENTRY_PAGES_AT_ONCE 64		/* they stay in the CPU's own cache */

/* By the first three an entry is known to be right. */
struct entry_head {
	uint8_t magic[8];
	struct hash name; /* what it is looked up by */
	struct hash hash; /* of what it was made from: */
	struct unwind_stats stats;
	uint64_t sum; /* of its pages; who may write an entry may write that, too */
	uint32_t n_pages;
};

struct entry {
	struct entry_head head;
	struct byte_ranges byte_ranges; /* as much of it as is in use */
};

/* 0, or -EBADMSG: it is corrupt; or -errno of a read. bytes: the file's size. */
int entry_read_head(int fd, uint64_t bytes, const struct hash *name, struct entry *ret);

/* Who gets an entry's pages in turn, some at a time. */
struct entry_sink {
	void (*pages)(void *arg, uint32_t first, const union unwind_page *pages,
		      uint32_t n);
	void *arg;
};

/* The whole table, *ret its head page's words; room is for ENTRY_PAGES_AT_ONCE. 0, or as
 * above: only now is it known that they are not what was kept, so what came of them is
 * not to be used. */
int entry_read_pages(int fd, const struct entry *entry, union unwind_page *room,
		     const struct entry_sink *sink, struct unwind_head *ret);

/* A new one, while its pages come. */
struct entry_writer {
	struct outfile *out; /* the caller's */
	uint64_t sum;
	uint32_t n_pages;
};

int entry_write_pages(struct entry_writer *writer, const union unwind_page *pages,
		      uint32_t n);

/* The rest; it sets what writing tells of it. */
int entry_write_head(const struct entry_writer *writer, struct entry *entry);

#endif
