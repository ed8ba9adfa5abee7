/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables on disk, so that a later start need not make them again.
 *
 * A file's ends find an entry, and prove nothing: two files may have the same. An
 * entry says which bytes of its file the table was made from (obj/byte_ranges.h), and
 * is right for a file in which these have the same hash. Of which files that was proven
 * is kept, too (unwind/known_files.h). Entries of another weft,
 * whose tables may look different, are found by no one and go as they age.
 *
 * Nothing that goes wrong here costs more than an entry: it is counted, and told
 * where we are to tell. Any number of processes may use one folder.
 */
#ifndef WEFT_UNWIND_CACHE_H
#define WEFT_UNWIND_CACHE_H

#include "base/cleanup.h"
#include "base/str.h"
#include "unwind/cache_dir.h"
#include "obj/byte_ranges.h"
#include "unwind/entry.h"
#include "unwind/known_files.h"
#include "unwind/unwind_table.h"

#define CACHE_NONE	"none" /* a folder's name that means no cache */
#define CACHE_BYTES_MAX (256ULL << 20)

struct cache;

struct cache_counts {
	unsigned long hits;
	unsigned long known;   /* of these: its file was not read */
	unsigned long misses;  /* no entry */
	unsigned long others;  /* an entry, of a file with other bytes */
	unsigned long corrupt; /* an entry that isn't one, or none of ours */
	unsigned long kept;    /* new ones */
	unsigned long too_large;
	unsigned long failed;  /* could not be written; the first is the last */
	unsigned long removed; /* to make room */
};

/* where: a folder, NULL for the default, CACHE_NONE. *ret is NULL where there is
 * none to be had, which is told. 0 or -ENOMEM. */
int cache_new(struct cache **ret, const char *where);
void cache_free(struct cache *cache); /* NULL is fine */
DEFINE_FREEP(cache)

const char *cache_path(const struct cache *cache);

/* What the entry for a file with these ends was made from; the caller frees it.
 * NULL: there is none. */
struct byte_ranges *cache_find(struct cache *cache, const struct hash *ends);

struct cached_table {
	struct unwind_stats stats;
	struct unwind_head head;
};

/* The table of a file with these ends and this hash. False: there is none, and what the
 * sink got is not to be used. */
bool cache_load(struct cache *cache, const struct known_file *file,
		const struct entry_sink *sink, struct cached_table *ret);

/* The table of a file that was proven to have one, in this run or an earlier one, and has
 * not changed since: nobody needs read it. False: there is none; *ret_stamp is for
 * cache_remember() then. */
bool cache_recall(struct cache *cache, int fd, const struct entry_sink *sink,
		  struct file_stamp *ret_stamp, struct cached_table *ret);

/* These ends, and this hash, were read of this file after it had this stamp. */
void cache_remember(struct cache *cache, int fd, const struct known_file *file);

/* The same of what a scan of it found. cache may be NULL. The info is the cache's until
 * the next one is remembered. */
const struct elf_info *cache_recall_info(const struct cache *cache, int fd,
					 struct file_stamp *ret_stamp);
void cache_remember_info(struct cache *cache, int fd, const struct file_stamp *stamp,
			 const struct elf_info *info);

/* A new entry, which is written while the table's pages come. */
struct cache_writer;

/* For a file with these ends. NULL: it is not kept, which is counted and told, but if one
 * with the same ends is being written. */
struct cache_writer *cache_begin(struct cache *cache, const struct hash *ends,
				 uint32_t n_pages);
void cache_writer_free(struct cache_writer *writer); /* NULL is fine */
DEFINE_FREEP(cache_writer)

/* The next of its pages. writer may be NULL, here and for _keep(). */
void cache_add(struct cache *cache, struct cache_writer *writer,
	       const union unwind_page *pages, uint32_t n);

/* What a table was made from. */
struct cache_new_table {
	const struct unwind_stats *stats;
	const struct byte_ranges *byte_ranges; /* NULL: nobody could tell */
	const struct hash *hash;	       /* of these */
};

/* All pages came. The writer is freed. */
void cache_keep(struct cache *cache, struct cache_writer *writer,
		const struct cache_new_table *table);

void cache_count(const struct cache *cache, struct cache_counts *ret);

#endif
