// SPDX-License-Identifier: BSD-2-Clause
#include "obj/fde_index.h"

#include <string.h>
#include <unistd.h>

#define ENTRY_BYTES 8 /* where a function begins, and its entry, from the header on */

/* The only form that linkers write: 4 bytes each, and the table sorted. */
static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };

struct header {
	uint8_t form[4];
	int32_t eh_frame;
	uint32_t count;
};

static bool read_header(int fd, const struct elf_facts *facts, struct header *ret)
{
	return facts->fde_index_vaddr &&
	       pread(fd, ret, sizeof(*ret), (off_t)facts->fde_index_offset) ==
		       sizeof(*ret) &&
	       !memcmp(ret->form, usual, sizeof(usual)) && ret->count;
}

static bool read_begin(int fd, const struct elf_facts *facts, uint32_t n, uint64_t *ret)
{
	uint64_t at = facts->fde_index_offset + sizeof(struct header) +
		      (uint64_t)n * ENTRY_BYTES;
	int32_t distance;

	if (pread(fd, &distance, sizeof(distance), (off_t)at) != sizeof(distance))
		return false;
	*ret = facts->fde_index_vaddr + (uint64_t)(int64_t)distance;
	return true;
}

bool fde_index_begin(int fd, const struct elf_facts *facts, uint64_t vaddr,
		     uint64_t *ret_begin)
{
	struct header header;
	uint32_t low = 0, high;
	uint64_t begin;

	if (!read_header(fd, facts, &header))
		return false;
	/* the first one behind it */
	for (high = header.count; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (!read_begin(fd, facts, mid, &begin))
			return false;
		if (begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && read_begin(fd, facts, low - 1, ret_begin);
}
