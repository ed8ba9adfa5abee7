// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/entry.h"

#include "base/error.h"
#include "unwind/pack.h"
#include "unwind/unwind_head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t magic[8] = "weftcf3";

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

static bool has_hash(const void *bytes, size_t n, const struct hash *expected)
{
	struct hash hash;

	hash_of(bytes, n, &hash);
	return !memcmp(&hash, expected, sizeof(hash));
}

/* The first part: head, list, hash. */
static size_t first_bytes(uint32_t n_ranges)
{
	return offsetof(struct entry, byte_ranges) + byte_ranges_size(n_ranges);
}

static uint64_t second_offset(const struct entry *entry)
{
	return first_bytes(entry->byte_ranges.n) + sizeof(struct hash);
}

static bool head_holds(const struct entry *entry, uint64_t bytes, const struct hash *name)
{
	const struct entry_head *head = &entry->head;
	uint64_t before = second_offset(entry);

	return !memcmp(head->magic, magic, sizeof(magic)) &&
	       !memcmp(&head->name, name, sizeof(*name)) && head->n_pages >= 2 &&
	       head->n_pages <= UNWIND_PAGES_MAX && bytes >= before &&
	       head->packed_bytes == bytes - before && entry->byte_ranges.n > 0 &&
	       byte_ranges_valid(&entry->byte_ranges,
				 byte_ranges_size(entry->byte_ranges.n));
}

int entry_read_head(int fd, uint64_t bytes, const struct hash *name, struct entry *ret)
{
	struct hash hash;
	int err;

	if (bytes < first_bytes(0) || bytes > ENTRY_BYTES_MAX)
		return corrupt("it is cut short");
	err = read_all(fd, 0, ret, first_bytes(0));
	if (!err && (ret->byte_ranges.n > BYTE_RANGES_MAX || bytes < second_offset(ret)))
		err = corrupt("it is cut short");
	if (!err)
		err = read_all(fd, first_bytes(0), ret->byte_ranges.ranges,
			       first_bytes(ret->byte_ranges.n) - first_bytes(0));
	if (!err)
		err = read_all(fd, first_bytes(ret->byte_ranges.n), &hash, sizeof(hash));
	if (err)
		return err;
	if (!has_hash(ret, first_bytes(ret->byte_ranges.n), &hash))
		return corrupt("the hash of its first part is wrong");
	return head_holds(ret, bytes, name) ? 0 : corrupt("its first part is invalid");
}

void entry_reader_free(struct entry_reader *reader)
{
	unpacker_free(&reader->unpacker);
	free(reader->packed);
	*reader = (struct entry_reader){ 0 };
}

static int make_room(struct entry_reader *reader, size_t n)
{
	uint8_t *packed;

	if (reader->packed && reader->packed_bytes >= n)
		return 0;
	packed = realloc(reader->packed, n ? n : 1);
	if (!packed)
		return fail(-ENOMEM, "no memory for a cache entry");
	reader->packed = packed;
	reader->packed_bytes = n;
	return 0;
}

int entry_read_pages(struct entry_reader *reader, int fd, const struct entry *entry,
		     const union unwind_page **ret)
{
	size_t n = (size_t)entry->head.packed_bytes;
	const union unwind_page *pages;
	int err = make_room(reader, n);

	if (!err)
		err = read_all(fd, second_offset(entry), reader->packed, n);
	if (!err)
		err = unpack_pages(&reader->unpacker, reader->packed, n,
				   entry->head.n_pages, &pages);
	if (err == -EBADMSG)
		return corrupt("its pages can't be unpacked");
	if (!err && !unwind_head_holds(&pages[0].head, entry->head.n_pages))
		err = corrupt("its head page is none");
	if (!err)
		*ret = pages;
	return err;
}

int entry_write(struct outfile *out, struct entry *entry, const struct str *packed)
{
	struct hash hash;
	int err;

	memcpy(entry->head.magic, magic, sizeof(magic));
	entry->head.packed_bytes = packed->n;
	hash_of(entry, first_bytes(entry->byte_ranges.n), &hash);
	err = outfile_add(out, entry, first_bytes(entry->byte_ranges.n));
	if (!err)
		err = outfile_add(out, &hash, sizeof(hash));
	return err ? err : outfile_add(out, packed->s, packed->n);
}
