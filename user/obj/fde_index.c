// SPDX-License-Identifier: BSD-2-Clause
#include "obj/fde_index.h"

#include <string.h>

#define ENTRY_HEAD 16 /* bytes of an entry before its augmentation's length */
#define SILENT_MAX 8  /* that length, which is 0, and what fills up to 8 bytes */

/* The only form that linkers write: 4 bytes each, and the table sorted. */
static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };

struct header {
	uint8_t form[4];
	int32_t eh_frame;
	uint32_t count;
};

static bool read_header(const struct paged_file *file, const struct elf_info *info,
			struct header *ret)
{
	return info->fde_index_vaddr &&
	       paged_read(file, info->fde_index_offset, ret, sizeof(*ret)) ==
		       sizeof(*ret) &&
	       !memcmp(ret->form, usual, sizeof(usual)) && ret->count;
}

struct fde_entry {
	int32_t begin, fde; /* from the header on */
};

static bool read_entry(const struct paged_file *file, const struct elf_info *info,
		       uint32_t n, struct fde_entry *ret)
{
	uint64_t offset = info->fde_index_offset + sizeof(struct header) +
			  (uint64_t)n * sizeof(*ret);

	return paged_read(file, offset, ret, sizeof(*ret)) == sizeof(*ret);
}

static uint64_t place(const struct elf_info *info, int32_t distance)
{
	return info->fde_index_vaddr + (uint64_t)(int64_t)distance;
}

/*
 * An entry in the usual form, {bytes, its CIE, begin, length, augmentation}: begin counts
 * from its own place and is what the table says. It is silent if there is no augmentation
 * and nothing but padding behind it. It lies in the header's segment.
 */
static void read_fde(const struct paged_file *file, const struct elf_info *info,
		     int32_t distance, struct fde *fde)
{
	static const uint8_t nothing[SILENT_MAX];
	uint64_t at = info->fde_index_offset + (uint64_t)(int64_t)distance;
	uint8_t bytes[ENTRY_HEAD + SILENT_MAX] = { 0 };
	size_t got = paged_read(file, at, bytes, sizeof(bytes));
	struct {
		uint32_t bytes, cie;
		int32_t begin;
		uint32_t length;
	} head;

	_Static_assert(sizeof(head) == ENTRY_HEAD, "as in the file");
	memcpy(&head, bytes, sizeof(head));
	if (got < ENTRY_HEAD || head.bytes < ENTRY_HEAD - sizeof(head.bytes))
		return;
	if (place(info, distance) + 8 + (uint64_t)(int64_t)head.begin == fde->begin)
		fde->end = fde->begin + head.length;
	head.bytes -= ENTRY_HEAD - sizeof(head.bytes);
	fde->said_offset = at + ENTRY_HEAD;
	fde->said_bytes = head.bytes;
	fde->is_silent = head.bytes <= SILENT_MAX &&
			 !memcmp(bytes + ENTRY_HEAD, nothing, head.bytes);
}

bool fde_index_is_usual(const struct paged_file *file, const struct elf_info *info)
{
	struct header header;

	return read_header(file, info, &header);
}

/* How many entries there are, and which is the first one that begins behind vaddr; that
 * may be their number. */
struct found_entries {
	uint32_t n, behind;
};

static bool search(const struct paged_file *file, const struct elf_info *info,
		   uint64_t vaddr, struct found_entries *ret)
{
	struct header header;
	struct fde_entry entry;
	uint32_t low = 0, high;

	if (!read_header(file, info, &header))
		return false;
	for (high = header.count; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (!read_entry(file, info, mid, &entry))
			return false;
		if (place(info, entry.begin) <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	*ret = (struct found_entries){ header.count, low };
	return true;
}

bool fde_index_find(const struct paged_file *file, const struct elf_info *info,
		    uint64_t vaddr, struct fde *ret)
{
	struct found_entries found;
	struct fde_entry entry;

	if (!search(file, info, vaddr, &found) || !found.behind ||
	    !read_entry(file, info, found.behind - 1, &entry))
		return false;
	*ret = (struct fde){ .begin = place(info, entry.begin), .next = UINT64_MAX };
	read_fde(file, info, entry.fde, ret);
	if (found.behind == found.n)
		return true;
	if (!read_entry(file, info, found.behind, &entry))
		return false;
	ret->next = place(info, entry.begin);
	return true;
}

bool fde_index_next(const struct paged_file *file, const struct elf_info *info,
		    uint64_t vaddr, uint64_t *ret)
{
	struct found_entries found;
	struct fde_entry entry;

	if (!search(file, info, vaddr, &found) || found.behind == found.n ||
	    !read_entry(file, info, found.behind, &entry))
		return false;
	*ret = place(info, entry.begin);
	return true;
}
