// SPDX-License-Identifier: BSD-2-Clause
#include "format/gzip.h"

#include "base/error.h"

#include <errno.h>
#include <zlib.h>

#define GATHERED_BYTES (256u << 10)
#define DEFLATED_BYTES (64u << 10)
#define GZIP_WINDOW    31 /* zlib.h: 15 bits, and 16 for gzip's head */
#define MEMORY_LEVEL   8

struct gzip {
	struct outfile *out;
	z_stream z;
	unsigned char chunk[DEFLATED_BYTES];
};

int gzip_new(struct gzip **ret, struct outfile *out)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip || deflateInit2(&gzip->z, DEFLATE_LEVEL, Z_DEFLATED, GZIP_WINDOW,
				  MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return fail(-ENOMEM, "no memory for compressing");
	}
	gzip->out = out;
	*ret = gzip;
	return 0;
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->z);
	free(gzip);
}

static int pass(struct gzip *gzip, struct str *text, int flush)
{
	int err = str_error(text);

	gzip->z.next_in = (unsigned char *)text->s;
	gzip->z.avail_in = (unsigned int)text->n;
	do {
		gzip->z.next_out = gzip->chunk;
		gzip->z.avail_out = DEFLATED_BYTES;
		if (!err && deflate(&gzip->z, flush) == Z_STREAM_ERROR)
			err = fail(-EINVAL, "compressing failed");
		if (!err)
			err = outfile_add(gzip->out, gzip->chunk,
					  DEFLATED_BYTES - gzip->z.avail_out);
	} while (!err && !gzip->z.avail_out);
	str_clear(text);
	return err;
}

int gzip_pass(struct gzip *gzip, struct str *text)
{
	return text->n < GATHERED_BYTES ? str_error(text) : pass(gzip, text, Z_NO_FLUSH);
}

int gzip_finish(struct gzip *gzip, struct str *text)
{
	return pass(gzip, text, Z_FINISH);
}
