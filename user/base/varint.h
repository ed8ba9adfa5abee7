/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in as few bytes as they need: seven bits a byte, low ones first, the
 * top bit set on all but the last. Protobuf's form, and DWARF's.
 */
#ifndef WEFT_BASE_VARINT_H
#define WEFT_BASE_VARINT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARINT_BYTES_MAX 10

static inline size_t varint_put(unsigned char out[VARINT_BYTES_MAX], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		out[n++] = (unsigned char)(value | 0x80);
	out[n++] = (unsigned char)value;
	return n;
}

static inline void varint_add(struct str *out, uint64_t value)
{
	unsigned char bytes[VARINT_BYTES_MAX];

	str_add_bytes(out, bytes, varint_put(bytes, value));
}

/* Of at most `most` bytes from *at, and moves *at past them. Bits beyond the 64th are
 * dropped; *ret_bits is how many its bytes have room for. False: it does not end. */
static inline bool varint_take(const unsigned char **at, const unsigned char *end,
			       unsigned int most, uint64_t *ret, unsigned int *ret_bits)
{
	uint64_t value = 0;
	unsigned int bits = 0;

	for (; *at < end && bits < 7 * most; bits += 7) {
		unsigned char byte = *(*at)++;

		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		if (byte < 0x80) {
			*ret = value;
			*ret_bits = bits + 7;
			return true;
		}
	}
	return false;
}

/* From bytes[*at … n); moves *at. False: it does not end there, or has more
 * than 64 bits. */
static inline bool varint_get(const void *bytes, size_t n, size_t *at, uint64_t *ret)
{
	const unsigned char *start = bytes, *next = start + *at;
	unsigned int bits;
	uint64_t value;
	bool whole = varint_take(&next, start + n, VARINT_BYTES_MAX, &value, &bits);

	*at = (size_t)(next - start);
	if (!whole || (bits > 64 && next[-1] > 1))
		return false;
	*ret = value;
	return true;
}

/* Small negative numbers in few bytes. */
static inline uint64_t zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? ~(uint64_t)0 : 0);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? ~(uint64_t)0 : 0));
}

#endif
