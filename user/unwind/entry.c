// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/entry.h"

#include "base/error.h"
#include "unwind/unwind_head.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/*
 * The file: pages; struct entry as far as it is in use; its hash; and this. The pages
 * are first, since they are written while nobody knows yet what they were made from.
 */
struct entry_end {
	uint64_t n_pages;
};

static const uint8_t magic[8] = "weftcf4";

static int corrupt(const char *what)
{
	return fail(-EBADMSG, "a cache entry is corrupt: %s", what);
}

static int read_all(int fd, uint64_t offset, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got =
			pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(-errno, "cannot read a cache entry");
		if (!got)
			return corrupt("it is cut short");
		done += (size_t)got;
	}
	return 0;
}

static size_t head_bytes(uint32_t n_ranges)
{
	return offsetof(struct entry, byte_ranges) + byte_ranges_size(n_ranges);
}

/* A file with so many of either. */
static uint64_t file_bytes(uint64_t n_pages, uint32_t n_ranges)
{
	return n_pages * UNWIND_PAGE_BYTES + head_bytes(n_ranges) + sizeof(struct hash) +
	       sizeof(struct entry_end);
}

static bool head_holds(const struct entry *entry, const struct hash *name)
{
	const struct entry_head *head = &entry->head;

	return !memcmp(head->magic, magic, sizeof(magic)) &&
	       !memcmp(&head->name, name, sizeof(*name)) && entry->byte_ranges.n > 0 &&
	       byte_ranges_valid(&entry->byte_ranges,
				 byte_ranges_size(entry->byte_ranges.n));
}

/* Its ranges, and then the hash of all. */
static int read_rest(int fd, uint64_t at, struct entry *ret)
{
	size_t n = head_bytes(ret->byte_ranges.n);
	struct hash hash, expected;
	int err = read_all(fd, at + head_bytes(0), ret->byte_ranges.ranges,
			   n - head_bytes(0));

	if (!err)
		err = read_all(fd, at + n, &expected, sizeof(expected));
	if (err)
		return err;
	hash_of(ret, n, &hash);
	return memcmp(&hash, &expected, sizeof(hash)) ? corrupt("a hash is wrong") : 0;
}

int entry_read_head(int fd, uint64_t bytes, const struct hash *name, struct entry *ret)
{
	struct entry_end end;
	uint64_t at;
	int err;

	if (bytes < file_bytes(2, 0) || bytes > ENTRY_BYTES_MAX)
		return corrupt("it is cut short, or too long");
	err = read_all(fd, bytes - sizeof(end), &end, sizeof(end));
	if (err)
		return err;
	if (end.n_pages < 2 || end.n_pages > ENTRY_BYTES_MAX / UNWIND_PAGE_BYTES ||
	    file_bytes(end.n_pages, 0) > bytes)
		return corrupt("its end is invalid");
	at = end.n_pages * UNWIND_PAGE_BYTES;
	err = read_all(fd, at, ret, head_bytes(0));
	if (err)
		return err;
	if (ret->head.n_pages != end.n_pages || ret->byte_ranges.n > BYTE_RANGES_MAX ||
	    file_bytes(end.n_pages, ret->byte_ranges.n) != bytes)
		return corrupt("its parts are not as long as it says");
	err = read_rest(fd, at, ret);
	if (err)
		return err;
	return head_holds(ret, name) ? 0 : corrupt("what it says of itself is invalid");
}

/* Each page by all before it, so that it is the same whatever comes at once. */
static uint64_t add_up(uint64_t sum, const union unwind_page *pages, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sum = XXH64(&pages[i], sizeof(pages[i]), sum);
	return sum;
}

/* The last are handed on if all of them are right: most tables have no others. */
int entry_read_pages(int fd, const struct entry *entry, union unwind_page *room,
		     const struct entry_sink *sink, struct unwind_head *ret)
{
	uint32_t n_pages = entry->head.n_pages, n;
	uint64_t sum = 0;
	int err;

	for (uint32_t at = 0; at < n_pages; at += n) {
		n = n_pages - at;
		if (n > ENTRY_PAGES_AT_ONCE)
			n = ENTRY_PAGES_AT_ONCE;
		err = read_all(fd, (uint64_t)at * UNWIND_PAGE_BYTES, room,
			       n * sizeof(*room));
		if (err)
			return err;
		if (!at && !unwind_head_holds(&room[0].head, n_pages))
			return corrupt("its head page is none");
		if (!at)
			*ret = room[0].head;
		sum = add_up(sum, room, n);
		if (at + n == n_pages && sum != entry->head.sum)
			return corrupt("its pages are not those that were kept");
		sink->pages(sink->arg, at, room, n);
	}
	return 0;
}

int entry_write_pages(struct entry_writer *writer, const union unwind_page *pages,
		      uint32_t n)
{
	writer->sum = add_up(writer->sum, pages, n);
	writer->n_pages += n;
	return outfile_add(writer->out, pages, n * sizeof(*pages));
}

int entry_write_head(const struct entry_writer *writer, struct entry *entry)
{
	const struct entry_end end = { writer->n_pages };
	size_t n = head_bytes(entry->byte_ranges.n);
	struct hash hash;
	int err;

	memcpy(entry->head.magic, magic, sizeof(magic));
	entry->head.sum = writer->sum;
	entry->head.n_pages = writer->n_pages;
	hash_of(entry, n, &hash);
	err = outfile_add(writer->out, entry, n);
	if (!err)
		err = outfile_add(writer->out, &hash, sizeof(hash));
	return err ? err : outfile_add(writer->out, &end, sizeof(end));
}
