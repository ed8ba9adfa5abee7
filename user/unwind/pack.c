// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/pack.h"

#include <string.h>

#define HALVES		(UNWIND_PAGE_BYTES / sizeof(uint16_t))
#define ITEM_HALVES_MAX (sizeof(struct unwind_rule) / sizeof(uint16_t))

/* In front of a page's halfwords lie as many zeros as an item has, from which the
 * first one differs. */
_Static_assert(sizeof(struct unwind_block) <= sizeof(struct unwind_rule) &&
		       sizeof(struct unwind_row) <= sizeof(struct unwind_rule),
	       "no item is larger than a rule");

size_t pack_item_bytes(const struct unwind_head *head, uint32_t page)
{
	if (page >= head->rows_page)
		return sizeof(struct unwind_row);
	if (page >= head->blocks_page)
		return sizeof(struct unwind_block);
	return sizeof(struct unwind_rule);
}

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static size_t put_number(uint8_t *out, uint32_t number)
{
	size_t n = 0;

	for (; number > 0x7f; number >>= 7)
		out[n++] = (uint8_t)(number | 0x80);
	out[n++] = (uint8_t)number;
	return n;
}

/* 0: none that fits a halfword. */
static inline size_t get_number(const uint8_t *bytes, size_t n, uint16_t *ret)
{
	uint32_t number = 0;

	if (n && bytes[0] < 0x80) { /* most of them */
		*ret = bytes[0];
		return 1;
	}
	for (size_t i = 0; i < n && i < 3; i++) {
		number |= (uint32_t)(bytes[i] & 0x7f) << 7 * i;
		if (bytes[i] & 0x80)
			continue;
		*ret = (uint16_t)number;
		return number <= UINT16_MAX ? i + 1 : 0;
	}
	return 0;
}

/* Small either way of zero: small. */
static uint16_t fold(uint16_t difference)
{
	return (uint16_t)(difference << 1 ^ -(difference >> 15));
}

static uint16_t unfold(uint16_t folded)
{
	return (uint16_t)(folded >> 1 ^ -(folded & 1));
}

size_t pack_page(const union unwind_page *page, size_t item_bytes, uint8_t *out)
{
	size_t apart = item_bytes / sizeof(uint16_t), n = 0, zeros = 0;
	uint16_t halves[ITEM_HALVES_MAX + HALVES] = { 0 }, *at = halves + apart;

	memcpy(at, page, sizeof(*page));
	for (size_t i = 0; i <= HALVES; i++) {
		uint16_t difference = i < HALVES ? (uint16_t)(at[i] - halves[i]) : 0;

		if (i < HALVES && !difference) {
			zeros++;
			continue;
		}
		if (zeros) {
			out[n++] = 0;
			n += put_number(out + n, (uint32_t)zeros - 1);
			zeros = 0;
		}
		if (difference)
			n += put_number(out + n, fold(difference));
	}
	return n;
}

/* n halfwords that differ from those before them by nothing. */
static void repeat(uint16_t *halves, size_t apart, size_t n)
{
	for (size_t i = 0; i < n; i++)
		halves[apart + i] = halves[i];
}

size_t unpack_page(const uint8_t *bytes, size_t n, size_t item_bytes,
		   union unwind_page *ret)
{
	size_t apart = item_bytes / sizeof(uint16_t), at = 0;
	uint16_t halves[ITEM_HALVES_MAX + HALVES] = { 0 };

	for (size_t i = 0; i < HALVES;) {
		uint16_t number, zeros;
		size_t used = get_number(bytes + at, n - at, &number);

		at += used;
		if (used && number) {
			halves[apart + i] = (uint16_t)(halves[i] + unfold(number));
			i++;
			continue;
		}
		used = used ? get_number(bytes + at, n - at, &zeros) : 0;
		if (!used || zeros >= HALVES - i)
			return 0;
		at += used;
		repeat(halves + i, apart, zeros + 1u);
		i += zeros + 1u;
	}
	memcpy(ret, halves + apart, sizeof(*ret));
	return at;
}
