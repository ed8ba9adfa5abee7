// SPDX-License-Identifier: BSD-2-Clause
/* Packed sections, unpacked from any place: what zlib alone makes of them. */
#include "parsers.h"

#include "base/error.h"
#include "obj/inflater.h"

#include <string.h>
#include <zlib.h>

#define HEAD_BYTES 4 /* how much it says to be, and where it is read */
#define BYTES_MAX  (4u << 20)
#define READ_MAX   (96u << 10)
#define READS	   12

static unsigned char expected[BYTES_MAX + 1], got[READ_MAX];

/* How many bytes come before the end or the first damage. */
static size_t inflate_alone(const uint8_t *data, size_t n)
{
	z_stream z = { .next_in = (unsigned char *)data,
		       .avail_in = (unsigned int)n,
		       .next_out = expected,
		       .avail_out = sizeof(expected) };

	REQUIRE(inflateInit(&z) == Z_OK);
	inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return sizeof(expected) - z.avail_out;
}

void fuzz_inflater(const uint8_t *data, size_t n)
{
	AUTO(inflater) inflater = NULL;
	size_t size, there;
	uint32_t state;
	int err;

	if (n < HEAD_BYTES)
		return;
	memcpy(&state, data, sizeof(state));
	size = state % (BYTES_MAX + 1);
	there = inflate_alone(data + HEAD_BYTES, n - HEAD_BYTES);
	err = inflater_new(&inflater, MEMORY_FD, HEAD_BYTES, n - HEAD_BYTES, size);
	for (int i = 0; !err && i < READS; i++) {
		size_t at = (state = state * 1664525 + 1013904223) % (size + 1);
		size_t bytes = (state = state * 1664525 + 1013904223) % READ_MAX;

		bytes = bytes < size - at ? bytes : size - at;
		err = inflater_read(inflater, at, got, bytes);
		REQUIRE(err || at + bytes <= there);
		REQUIRE(err || !memcmp(got, expected + at, bytes));
	}
	require_error(err);
}
