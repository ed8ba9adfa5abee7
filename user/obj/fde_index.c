// SPDX-License-Identifier: BSD-2-Clause
#include "obj/fde_index.h"

#include <string.h>
#include <unistd.h>

#define ENTRY_HEAD 16 /* bytes of an entry before its augmentation's length */
#define SILENT_MAX 8  /* that length, which is 0, and what fills up to 8 bytes */

/* The only form that linkers write: 4 bytes each, and the table sorted. */
static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };

struct header {
	uint8_t form[4];
	int32_t eh_frame;
	uint32_t count;
};

static bool read_header(int fd, const struct elf_info *info, struct header *ret)
{
	return info->fde_index_vaddr &&
	       pread(fd, ret, sizeof(*ret), (off_t)info->fde_index_offset) ==
		       sizeof(*ret) &&
	       !memcmp(ret->form, usual, sizeof(usual)) && ret->count;
}

struct fde_entry {
	int32_t begin, fde; /* from the header on */
};

static bool read_entry(int fd, const struct elf_info *info, uint32_t n,
		       struct fde_entry *ret)
{
	uint64_t at = info->fde_index_offset + sizeof(struct header) +
		      (uint64_t)n * sizeof(*ret);

	return pread(fd, ret, sizeof(*ret), (off_t)at) == sizeof(*ret);
}

static uint64_t place(const struct elf_info *info, int32_t distance)
{
	return info->fde_index_vaddr + (uint64_t)(int64_t)distance;
}

/*
 * An entry in the usual form, {bytes, its CIE, begin, length, no augmentation}, behind
 * which there is nothing but padding. It lies in the header's segment.
 */
static bool is_silent(int fd, const struct elf_info *info, int32_t distance)
{
	static const uint8_t nothing[SILENT_MAX];
	uint64_t at = info->fde_index_offset + (uint64_t)(int64_t)distance;
	uint8_t bytes[ENTRY_HEAD + SILENT_MAX] = { 0 };
	ssize_t got = pread(fd, bytes, sizeof(bytes), (off_t)at);
	uint32_t n;

	memcpy(&n, bytes, sizeof(n));
	return got >= ENTRY_HEAD && n >= ENTRY_HEAD - sizeof(n) &&
	       n - (ENTRY_HEAD - sizeof(n)) <= SILENT_MAX &&
	       !memcmp(bytes + ENTRY_HEAD, nothing, n - (ENTRY_HEAD - sizeof(n)));
}

bool fde_index_find(int fd, const struct elf_info *info, uint64_t vaddr, struct fde *ret)
{
	struct header header;
	struct fde_entry entry;
	uint32_t low = 0, high;

	if (!read_header(fd, info, &header))
		return false;
	/* the first one behind it */
	for (high = header.count; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (!read_entry(fd, info, mid, &entry))
			return false;
		if (place(info, entry.begin) <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !read_entry(fd, info, low - 1, &entry))
		return false;
	ret->begin = place(info, entry.begin);
	ret->is_silent = is_silent(fd, info, entry.fde);
	return true;
}
