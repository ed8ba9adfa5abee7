// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/entry.h"

#include "base/error.h"
#include "unwind/pack.h"
#include "unwind/unwind_head.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const uint8_t magic[8] = "weftcf2";

static int spoilt(const char *what)
{
	return fail(-EBADMSG, "an entry of the cache is spoilt: %s", what);
}

static int read_all(int fd, uint64_t offset, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got =
			pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(-errno, "cannot read an entry of the cache");
		if (!got)
			return spoilt("it is cut short");
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
	return offsetof(struct entry, reads) + read_list_bytes(n_ranges);
}

static uint64_t second_offset(const struct entry *entry)
{
	return first_bytes(entry->reads.n) + sizeof(struct hash);
}

static bool head_holds(const struct entry *entry, uint64_t bytes, const struct hash *name)
{
	const struct entry_head *head = &entry->head;
	uint64_t before = second_offset(entry) + sizeof(struct hash);

	return !memcmp(head->magic, magic, sizeof(magic)) &&
	       !memcmp(&head->name, name, sizeof(*name)) && head->n_pages >= 2 &&
	       head->n_pages <= UNWIND_PAGES_MAX && bytes >= before &&
	       head->packed_bytes == bytes - before && entry->reads.n > 0 &&
	       read_list_holds(&entry->reads, read_list_bytes(entry->reads.n));
}

int entry_read_head(int fd, uint64_t bytes, const struct hash *name, struct entry *ret)
{
	struct hash hash;
	int err;

	if (bytes < first_bytes(0) || bytes > ENTRY_BYTES_MAX)
		return spoilt("it is cut short");
	err = read_all(fd, 0, ret, first_bytes(0));
	if (!err && (ret->reads.n > READS_MAX || bytes < second_offset(ret)))
		err = spoilt("it is cut short");
	if (!err)
		err = read_all(fd, first_bytes(0), ret->reads.ranges,
			       first_bytes(ret->reads.n) - first_bytes(0));
	if (!err)
		err = read_all(fd, first_bytes(ret->reads.n), &hash, sizeof(hash));
	if (err)
		return err;
	if (!has_hash(ret, first_bytes(ret->reads.n), &hash))
		return spoilt("its first part has another hash");
	return head_holds(ret, bytes, name) ? 0 : spoilt("its first part is none");
}

int entry_read_pages(int fd, const struct entry *entry, union unwind_page **ret)
{
	size_t n = (size_t)entry->head.packed_bytes;
	AUTO_FREE uint8_t *packed = malloc(n ? n : 1);
	AUTO_FREE union unwind_page *pages = NULL;
	struct hash hash;
	int err;

	if (!packed)
		return fail(-ENOMEM, "no memory for an entry of the cache");
	err = read_all(fd, second_offset(entry), packed, n);
	if (!err)
		err = read_all(fd, second_offset(entry) + n, &hash, sizeof(hash));
	if (!err && !has_hash(packed, n, &hash))
		err = spoilt("its second part has another hash");
	if (!err)
		err = unpack_pages(packed, n, entry->head.n_pages, &pages);
	if (err == -EBADMSG)
		return spoilt("its pages can't be unpacked");
	if (!err && !unwind_head_holds(&pages[0].head, entry->head.n_pages))
		err = spoilt("its head page is none");
	if (!err)
		*ret = GIVE(pages);
	return err;
}

int entry_write(struct outfile *out, struct entry *entry, const struct str *packed)
{
	struct hash hash;
	int err;

	memcpy(entry->head.magic, magic, sizeof(magic));
	entry->head.packed_bytes = packed->n;
	hash_of(entry, first_bytes(entry->reads.n), &hash);
	err = outfile_add(out, entry, first_bytes(entry->reads.n));
	if (!err)
		err = outfile_add(out, &hash, sizeof(hash));
	if (!err)
		err = outfile_add(out, packed->s, packed->n);
	if (err)
		return err;
	hash_of(packed->s, packed->n, &hash);
	return outfile_add(out, &hash, sizeof(hash));
}
