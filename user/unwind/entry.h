/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry of the cache, a file: what a table was made from, and the table. Its
 * bytes are this machine's; its first part is followed by its hash, its second has a
 * checksum (unwind/pack.h). What is read is checked as if a stranger had written it.
 */
#ifndef WEFT_UNWIND_ENTRY_H
#define WEFT_UNWIND_ENTRY_H

#include "base/outfile.h"
#include "base/str.h"
#include "obj/byte_ranges.h"
#include "unwind/pack.h"
#include "unwind/unwind_table.h"

#define ENTRY_BYTES_MAX (32u << 20) /* of a file; larger tables are made each time */

/* The first part: by it the second is found, and known to be right. */
struct entry_head {
	uint8_t magic[8];
	struct hash name; /* what it is looked up by */
	struct hash hash; /* of what it was made from: */
	struct unwind_stats stats;
	uint32_t n_pages;
	uint64_t packed_bytes; /* of the second part */
};

struct entry {
	struct entry_head head;
	struct byte_ranges byte_ranges; /* as much of it as is in use */
};

/* Both 0, or -EBADMSG: it is corrupt; or -errno of a read. bytes: the file's size. */
int entry_read_head(int fd, uint64_t bytes, const struct hash *name, struct entry *ret);

/* What reading takes, kept for the next entry. */
struct entry_reader { /* {0}: nothing yet */
	uint8_t *packed;
	size_t packed_bytes; /* that there is room for */
	struct unpacker unpacker;
};

void entry_reader_free(struct entry_reader *reader); /* is {0} then */

/* The whole table, head->n_pages of pages; the reader's until it reads the next one. */
int entry_read_pages(struct entry_reader *reader, int fd, const struct entry *entry,
		     const union unwind_page **ret);

/* packed: all pages, as unwind/pack.h makes it. */
int entry_write(struct outfile *out, struct entry *entry, const struct str *packed);

#endif
