// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cache.h"

#include "base/error.h"
#include "base/log.h"
#include "unwind_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_FOR_MORE (CACHE_BYTES_MAX / 8)  /* that is made at once */
#define RECOUNT_BYTES (CACHE_BYTES_MAX / 32) /* others may have added as much unseen */

struct cache {
	struct cache_dir dir;
	struct cache_counts counts;
	struct log_pace pace; /* of words about corrupt entries */
	struct entry entry;   /* the one at hand */
	union unwind_page room[ENTRY_PAGES_AT_ONCE];
	struct known_files known;
	bool is_read_only;
};

struct cache_writer {
	struct entry_writer entry; /* its file is ours */
	struct hash name;
};

/* What a table looks like depends on the file and on who makes it. */
static void name_of(const struct hash *ends, struct hash *ret)
{
	static const char builder[] = UNWIND_BUILDER;
	struct hasher hasher;

	hash_begin(&hasher);
	hash_add(&hasher, builder, sizeof(builder));
	hash_add(&hasher, ends, sizeof(*ends));
	hash_end(&hasher, ret);
}

/* As if it were the entry of a file. */
static void name_of_known(char ret[CACHE_DIR_NAME_BYTES])
{
	static const char what[] = "known files";
	struct hash hash;

	hash_of(what, sizeof(what), &hash);
	name_of(&hash, &hash);
	cache_dir_name(&hash, ret);
}

/* Without it files are read once more. */
static void read_known(struct cache *cache)
{
	char name[CACHE_DIR_NAME_BYTES];
	AUTO_FREE void *bytes = NULL;
	AUTO_CLOSE int fd = -1;
	uint64_t n;
	int err;

	name_of_known(name);
	fd = cache_dir_read(&cache->dir, name, ENTRY_BYTES_MAX, &n);
	if (fd < 0) {
		error_clear();
		return;
	}
	bytes = malloc(n + 1);
	err = bytes && pread(fd, bytes, n, 0) == (ssize_t)n
		      ? known_files_read(&cache->known, bytes, n)
		      : fail(-EBADMSG, "it can't be read");
	if (!err)
		return;
	log_verbose("%s/%s: %s", cache->dir.path, name, error_sentence());
	error_clear();
	known_files_free(&cache->known);
}

static int write_known(const struct cache *cache)
{
	char name[CACHE_DIR_NAME_BYTES];
	AUTO(outfile) out = NULL;
	AUTO_STR bytes = { 0 };
	int err = known_files_write(&cache->known, &bytes);

	name_of_known(name);
	if (!err)
		err = outfile_new_in(&out, cache->dir.fd, name);
	if (!err)
		err = outfile_add(out, bytes.s, bytes.n);
	return err ? err : outfile_finish(out);
}

/* Who names a folder expects that it is used; the default one need not be there. */
static void tell_of_none(const char *where)
{
	void (*tell)(const char *fmt, ...) = where ? log_warn : log_verbose;

	tell("no cache of unwind tables: %s", error_sentence());
	if (where && *error_hint())
		log_hint("%s", error_hint());
	error_clear();
}

int cache_new(struct cache **ret, const char *where)
{
	AUTO(cache) cache = NULL;

	*ret = NULL;
	if (where && !strcmp(where, CACHE_NONE))
		return 0;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return fail(-ENOMEM, "no memory for the cache of unwind tables");
	if (cache_dir_open(&cache->dir, where, true)) {
		tell_of_none(where);
		return 0;
	}
	read_known(cache);
	*ret = GIVE(cache);
	return 0;
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	if (cache->known.is_changed && !cache->is_read_only && write_known(cache)) {
		log_verbose("%s", error_sentence());
		error_clear();
	}
	known_files_free(&cache->known);
	log_pace_end(&cache->pace);
	cache_dir_close(&cache->dir);
	free(cache);
}

const char *cache_path(const struct cache *cache)
{
	return cache->dir.path;
}

static void report_corrupt(struct cache *cache, const char *name)
{
	cache->counts.corrupt++;
	log_verbose_paced(&cache->pace, "%s/%s: %s", cache->dir.path, name,
			  error_sentence());
	error_clear();
}

/* The descriptor of the entry whose first part is in cache->entry now; -1: none. */
static int open_entry(struct cache *cache, const struct hash *ends)
{
	char name[CACHE_DIR_NAME_BYTES];
	AUTO_CLOSE int fd = -1;
	struct hash hash;
	uint64_t bytes;
	int err;

	name_of(ends, &hash);
	cache_dir_name(&hash, name);
	fd = cache_dir_read(&cache->dir, name, ENTRY_BYTES_MAX, &bytes);
	if (fd == -ENOENT) {
		cache->counts.misses++;
		return -1;
	}
	err = fd < 0 ? fd : entry_read_head(fd, bytes, &hash, &cache->entry);
	if (!err)
		return GIVE_FD(fd);
	report_corrupt(cache, name);
	return -1;
}

struct byte_ranges *cache_find(struct cache *cache, const struct hash *ends)
{
	AUTO_CLOSE int fd = open_entry(cache, ends);
	size_t n = byte_ranges_size(cache->entry.byte_ranges.n);
	struct byte_ranges *list = fd < 0 ? NULL : malloc(n);

	if (list)
		memcpy(list, &cache->entry.byte_ranges, n);
	return list;
}

bool cache_load(struct cache *cache, const struct known_file *file,
		const struct entry_sink *sink, struct cached_table *ret)
{
	AUTO_CLOSE int fd = open_entry(cache, &file->ends);

	if (fd < 0)
		return false;
	if (memcmp(&cache->entry.head.hash, &file->hash, sizeof(file->hash))) {
		cache->counts.others++;
		return false;
	}
	ret->stats = cache->entry.head.stats;
	if (entry_read_pages(fd, &cache->entry, cache->room, sink, &ret->head)) {
		report_corrupt(cache, "an entry");
		return false;
	}
	cache->counts.hits++;
	return true;
}

/* What is wrong with an entry that was thought right is found by who is asked next. */
static bool load_known(struct cache *cache, const struct known_file *file,
		       const struct entry_sink *sink, struct cached_table *ret)
{
	const struct cache_counts before = cache->counts;

	if (!cache_load(cache, file, sink, ret)) {
		cache->counts = before;
		return false;
	}
	cache->counts.known++;
	return true;
}

bool cache_recall(struct cache *cache, int fd, const struct entry_sink *sink,
		  struct file_stamp *ret_stamp, struct cached_table *ret)
{
	const struct known_file *file;

	*ret_stamp = (struct file_stamp){ 0 };
	if (!file_stamp_take(fd, FILE_SETTLED_S, ret_stamp))
		return false;
	file = known_files_get(&cache->known, ret_stamp);
	return file && load_known(cache, file, sink, ret);
}

static bool has_stamp(int fd, const struct file_stamp *stamp)
{
	struct file_stamp now;

	return stamp->inode && file_stamp_take(fd, FILE_SETTLED_S, &now) &&
	       !memcmp(&now, stamp, sizeof(now));
}

void cache_remember(struct cache *cache, int fd, const struct known_file *file)
{
	if (has_stamp(fd, &file->stamp) && known_files_add(&cache->known, file))
		error_clear(); /* it is read once more */
}

const struct elf_info *cache_recall_info(const struct cache *cache, int fd,
					 struct file_stamp *ret_stamp)
{
	*ret_stamp = (struct file_stamp){ 0 };
	return cache && file_stamp_take(fd, FILE_SETTLED_S, ret_stamp)
		       ? known_files_get_info(&cache->known, ret_stamp)
		       : NULL;
}

void cache_remember_info(struct cache *cache, int fd, const struct file_stamp *stamp,
			 const struct elf_info *info)
{
	if (cache && has_stamp(fd, stamp) &&
	    known_files_add_info(&cache->known, stamp, info))
		error_clear(); /* it is scanned once more */
}

static int trim(struct cache *cache, uint64_t most)
{
	struct cache_dir_sum sum;
	unsigned long removed;
	int err = cache_dir_trim(&cache->dir, most, &sum, &removed);

	if (err)
		return err;
	cache->known.folder = (struct folder_sum){ .counted_bytes = sum.bytes };
	cache->counts.removed += removed;
	return 0;
}

/* To count a full folder takes 10 ms, so the sum is kept. Others may write here, too, and
 * may not have seen ours: it is counted anew now and then, and before anything goes. */
static int make_room(struct cache *cache, uint64_t more)
{
	struct folder_sum *folder = &cache->known.folder;
	int err = 0;

	if (!folder->counted_bytes || folder->added_bytes > RECOUNT_BYTES)
		err = trim(cache, UINT64_MAX);
	if (!err && folder->counted_bytes + folder->added_bytes + more > CACHE_BYTES_MAX)
		err = trim(cache, CACHE_BYTES_MAX - ROOM_FOR_MORE - more);
	if (err)
		return err;
	folder->added_bytes += more;
	cache->known.is_changed = true;
	return 0;
}

void cache_writer_free(struct cache_writer *writer)
{
	if (!writer)
		return;
	outfile_free(writer->entry.out);
	free(writer);
}

/* The first that can't be written is the last. */
static void give_up_writing(struct cache *cache)
{
	cache->counts.failed++;
	cache->is_read_only = true;
	log_verbose("%s takes no more unwind tables: %s", cache->dir.path,
		    error_sentence());
	error_clear();
}

static int writer_new(struct cache *cache, const struct hash *ends, uint32_t n_pages,
		      struct cache_writer **ret)
{
	AUTO(cache_writer) writer = calloc(1, sizeof(*writer));
	char name[CACHE_DIR_NAME_BYTES];
	int err;

	if (!writer)
		return fail(-ENOMEM, "no memory for a new entry");
	name_of(ends, &writer->name);
	cache_dir_name(&writer->name, name);
	err = make_room(cache,
			(uint64_t)n_pages * UNWIND_PAGE_BYTES + sizeof(cache->entry));
	if (!err)
		err = outfile_new_in(&writer->entry.out, cache->dir.fd, name);
	if (err)
		return err;
	*ret = GIVE(writer);
	return 0;
}

struct cache_writer *cache_begin(struct cache *cache, const struct hash *ends,
				 uint32_t n_pages)
{
	const uint32_t most =
		(ENTRY_BYTES_MAX - sizeof(cache->entry)) / UNWIND_PAGE_BYTES - 1;
	struct cache_writer *writer = NULL;
	int err;

	if (cache->is_read_only)
		return NULL;
	if (n_pages > most) {
		cache->counts.too_large++;
		return NULL;
	}
	err = writer_new(cache, ends, n_pages, &writer);
	if (err == -EBUSY)
		error_clear(); /* that of a file with the same ends will be kept */
	else if (err)
		give_up_writing(cache);
	return writer;
}

void cache_add(struct cache *cache, struct cache_writer *writer,
	       const union unwind_page *pages, uint32_t n)
{
	if (writer && !cache->is_read_only && entry_write_pages(&writer->entry, pages, n))
		give_up_writing(cache);
}

static int write_rest(struct cache *cache, struct cache_writer *writer,
		      const struct cache_new_table *table)
{
	struct entry *entry = &cache->entry;
	int err;

	memset(&entry->head, 0, sizeof(entry->head));
	entry->head.name = writer->name;
	entry->head.hash = *table->hash;
	entry->head.stats = *table->stats;
	memcpy(&entry->byte_ranges, table->byte_ranges,
	       byte_ranges_size(table->byte_ranges->n));
	err = entry_write_head(&writer->entry, entry);
	return err ? err : outfile_finish(writer->entry.out);
}

void cache_keep(struct cache *cache, struct cache_writer *taken,
		const struct cache_new_table *table)
{
	AUTO(cache_writer) writer = taken;

	if (!writer || cache->is_read_only)
		return;
	if (!table->byte_ranges) {
		cache->counts.too_large++;
		return;
	}
	if (write_rest(cache, writer, table))
		give_up_writing(cache);
	else
		cache->counts.kept++;
}

void cache_count(const struct cache *cache, struct cache_counts *ret)
{
	*ret = cache->counts;
}
