/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads numbers as call frame information holds them, never past its end. What
 * does not fit reads as 0 and leaves the cursor bad and at its end, so that a
 * reader may look once, after several.
 */
#ifndef WEFT_UNWIND_CFI_CURSOR_H
#define WEFT_UNWIND_CFI_CURSOR_H

#include "base/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t cfi_left(const struct cfi_cursor *in)
{
	return (size_t)(in->end - in->at);
}

static inline uint64_t cfi_mark_bad(struct cfi_cursor *in)
{
	in->bad = true;
	in->at = in->end;
	return 0;
}

static inline void cfi_skip(struct cfi_cursor *in, uint64_t n)
{
	if (n > cfi_left(in))
		cfi_mark_bad(in);
	else
		in->at += n;
}

/* Little endian, of 1, 2, 4 or 8 bytes. */
static inline uint64_t cfi_fixed(struct cfi_cursor *in, size_t n)
{
	uint64_t value = 0;

	if (n > cfi_left(in))
		return cfi_mark_bad(in);
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)in->at[i] << 8 * i;
	in->at += n;
	return value;
}

static inline uint8_t cfi_u8(struct cfi_cursor *in)
{
	return (uint8_t)cfi_fixed(in, 1);
}

#define CFI_LEB_MAX 20 /* bytes; some assemblers pad, and this bounds work */

/* Bits beyond the 64th are dropped. */
static inline uint64_t cfi_leb(struct cfi_cursor *in, bool is_signed)
{
	uint64_t value = 0;
	unsigned int bits = 0;

	if (!varint_take(&in->at, in->end, CFI_LEB_MAX, &value, &bits))
		return cfi_mark_bad(in);
	if (is_signed && bits < 64 && in->at[-1] & 0x40)
		value |= ~0ULL << bits;
	return value;
}

static inline uint64_t cfi_uleb(struct cfi_cursor *in)
{
	return cfi_leb(in, false);
}

static inline int64_t cfi_sleb(struct cfi_cursor *in)
{
	return (int64_t)cfi_leb(in, true);
}

#endif
