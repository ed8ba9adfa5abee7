// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/pack.h"

#include "format/gzip.h"

#include <errno.h>
#include <zlib.h>

#define GZIP		16 /* for zlib: its format, and nothing else */
#define PLAIN_BYTES_MAX (256u << 20)

bool unpack(const struct str *packed, struct str *out)
{
	unsigned char room[16384];
	z_stream z = { .next_in = (unsigned char *)packed->s,
		       .avail_in = (unsigned int)packed->n };
	int err = inflateInit2(&z, GZIP + MAX_WBITS);

	while (err == Z_OK) {
		z.next_out = room;
		z.avail_out = sizeof(room);
		err = inflate(&z, Z_NO_FLUSH);
		str_add_bytes(out, room, sizeof(room) - z.avail_out);
		if (out->n > PLAIN_BYTES_MAX)
			break;
	}
	inflateEnd(&z);
	return err == Z_STREAM_END && !z.avail_in && !str_error(out);
}

int pack(const struct str *plain, struct str *out)
{
	unsigned char room[16384];
	z_stream z = { .next_in = (unsigned char *)plain->s,
		       .avail_in = (unsigned int)plain->n };
	int err = deflateInit2(&z, DEFLATE_LEVEL, Z_DEFLATED, GZIP + MAX_WBITS, 8,
			       Z_DEFAULT_STRATEGY);

	while (err == Z_OK) {
		z.next_out = room;
		z.avail_out = sizeof(room);
		err = deflate(&z, Z_FINISH);
		str_add_bytes(out, room, sizeof(room) - z.avail_out);
	}
	deflateEnd(&z);
	return err == Z_STREAM_END ? str_error(out) : -ENOMEM;
}
