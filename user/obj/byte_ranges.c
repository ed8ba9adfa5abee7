// SPDX-License-Identifier: BSD-2-Clause
#include "obj/byte_ranges.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_file.h"

#include <errno.h>
#include <sys/stat.h>

#define END_BYTES   4096
#define PIECE_BYTES (64u << 10)

size_t byte_ranges_size(uint32_t n)
{
	return offsetof(struct byte_ranges, ranges) + n * sizeof(struct byte_range);
}

bool byte_ranges_valid(const struct byte_ranges *list, size_t bytes)
{
	uint64_t sum = 0;

	if (bytes < byte_ranges_size(0) || list->n > BYTE_RANGES_MAX ||
	    bytes != byte_ranges_size(list->n) || list->reserved)
		return false;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct byte_range *range = &list->ranges[i];

		if (range->offset > list->file_bytes ||
		    range->bytes > list->file_bytes - range->offset ||
		    range->bytes > ELF_READ_MAX - sum)
			return false;
		sum += range->bytes;
	}
	return true;
}

void range_recorder_begin(struct range_recorder *recorder, uint64_t file_bytes)
{
	recorder->list.file_bytes = file_bytes;
	recorder->list.n = recorder->list.reserved = 0;
	recorder->incomplete = false;
	hash_begin(&recorder->hasher);
}

void range_recorder_add(struct range_recorder *recorder, uint64_t offset,
			const void *bytes, size_t n)
{
	struct byte_ranges *list = &recorder->list;
	struct byte_range *last = list->n ? &list->ranges[list->n - 1] : NULL;

	if (recorder->incomplete)
		return;
	if (last && last->offset + last->bytes == offset) {
		last->bytes += n;
	} else if (list->n == BYTE_RANGES_MAX) {
		recorder->incomplete = true;
		return;
	} else {
		list->ranges[list->n++] = (struct byte_range){ offset, n };
	}
	hash_add(&recorder->hasher, bytes, n);
}

/* The list behind its bytes: from its end, which is of one size, both are told
 * apart in one way. */
bool range_recorder_end(struct range_recorder *recorder, struct hash *ret)
{
	const struct byte_ranges *list = &recorder->list;
	const uint64_t end[] = { list->file_bytes, list->n };

	if (recorder->incomplete)
		return false;
	hash_add(&recorder->hasher, list->ranges, list->n * sizeof(list->ranges[0]));
	hash_add(&recorder->hasher, end, sizeof(end));
	hash_end(&recorder->hasher, ret);
	return true;
}

static int hash_range(int fd, const struct byte_range *range, uint8_t *piece,
		      struct hasher *hasher)
{
	for (uint64_t at = 0; at < range->bytes;) {
		size_t some =
			range->bytes - at < PIECE_BYTES ? range->bytes - at : PIECE_BYTES;
		ssize_t got = pread(fd, piece, some, (off_t)(range->offset + at));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail(got ? -errno : -EBADMSG, "cannot read a file");
		hash_add(hasher, piece, (size_t)got);
		at += (uint64_t)got;
	}
	return 0;
}

int byte_ranges_hash(int fd, const struct byte_ranges *list, struct hash *ret)
{
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	const uint64_t end[] = { list->file_bytes, list->n };
	struct hasher hasher;
	struct stat st;
	int err = 0;

	if (!piece)
		return fail(-ENOMEM, "no memory to hash a file");
	if (fstat(fd, &st))
		return fail_errno(-errno, "cannot stat a file");
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != list->file_bytes)
		return fail(-EBADMSG, "not a regular file of %llu bytes",
			    (unsigned long long)list->file_bytes);
	hash_begin(&hasher);
	for (uint32_t i = 0; !err && i < list->n; i++)
		err = hash_range(fd, &list->ranges[i], piece, &hasher);
	if (err)
		return err;
	hash_add(&hasher, list->ranges, list->n * sizeof(list->ranges[0]));
	hash_add(&hasher, end, sizeof(end));
	hash_end(&hasher, ret);
	return 0;
}

void byte_ranges_of_ends(struct byte_ranges *list, uint64_t file_bytes)
{
	uint64_t n = file_bytes < END_BYTES ? file_bytes : END_BYTES;

	list->file_bytes = file_bytes;
	list->n = 2;
	list->reserved = 0;
	list->ranges[0] = (struct byte_range){ 0, n };
	list->ranges[1] = (struct byte_range){ file_bytes - n, n };
}
