// SPDX-License-Identifier: BSD-2-Clause
/*
 * As zran.c of zlib has it: deflated data is a sequence of blocks, and where one begins,
 * the bytes before it and how many bits of the last byte are still to come are all that
 * it takes to go on. The sum of all bytes, which stands behind them, is compared when
 * their end comes for the first time.
 */
#include "obj/inflater.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define ZLIB_HEAD_BYTES 2    /* of zlib's format, before the blocks */
#define ZLIB_SUM_BYTES	4    /* behind them */
#define RATIO_MAX	1032 /* nothing deflates to less */
#define UNPACK_BYTES	(64u << 10)
#define HISTORY_BYTES	(32u << 10)
#define RESTARTS_MAX	128u /* of a section, about */
#define APART_MIN	(1u << 20)
#define AGAIN_MAX	64 /* times its size that may be unpacked in all */

/* Where a block begins. */
struct restart {
	uint64_t in, out;
	int bits; /* of the byte before in */
	unsigned int n;
	unsigned char *history; /* the n bytes before out */
};

struct inflater {
	int fd;
	uint64_t begin, end; /* of the packed bytes in the file */
	uint64_t in;	     /* what is read next */
	uint64_t size, out;  /* unpacked; where it is */
	uint64_t summed;     /* as far as it has come before */
	uint64_t work;	     /* bytes that were unpacked, once or again */
	uint64_t apart;	     /* of restarts */
	unsigned long sum;
	z_stream z;
	bool is_open;
	VEC(struct restart) restarts; /* ascending */
	unsigned char packed[UNPACK_BYTES];
	unsigned char skipped[UNPACK_BYTES];
};

static int damaged(void)
{
	return fail(-EBADMSG, "debug information: a packed section is damaged");
}

int inflater_new(struct inflater **ret, int fd, uint64_t offset, uint64_t n,
		 uint64_t size)
{
	struct inflater *inflater;

	if (n < ZLIB_HEAD_BYTES + ZLIB_SUM_BYTES || size / RATIO_MAX > n)
		return damaged();
	inflater = calloc(1, sizeof(*inflater));
	if (!inflater)
		return fail(-ENOMEM, "no memory to unpack debug information");
	inflater->fd = fd;
	inflater->begin = offset;
	inflater->end = offset + n;
	inflater->size = size;
	inflater->apart =
		size / RESTARTS_MAX > APART_MIN ? size / RESTARTS_MAX : APART_MIN;
	*ret = inflater;
	return 0;
}

void inflater_free(struct inflater *inflater)
{
	if (!inflater)
		return;
	for (size_t i = 0; i < inflater->restarts.n; i++)
		free(inflater->restarts.items[i].history);
	vec_free(&inflater->restarts);
	if (inflater->is_open)
		inflateEnd(&inflater->z);
	free(inflater);
}

bool inflater_is_behind(const struct inflater *inflater, uint64_t at)
{
	return at < inflater->out;
}

static int read_at(const struct inflater *inflater, uint64_t at, void *buf, size_t n)
{
	return pread(inflater->fd, buf, n, (off_t)at) == (ssize_t)n ? 0 : damaged();
}

static int refill(struct inflater *inflater)
{
	uint64_t left = inflater->end - ZLIB_SUM_BYTES - inflater->in;
	size_t n = left < UNPACK_BYTES ? (size_t)left : UNPACK_BYTES;
	int err = n ? read_at(inflater, inflater->in, inflater->packed, n) : damaged();

	inflater->in += n;
	inflater->z.next_in = inflater->packed;
	inflater->z.avail_in = (unsigned int)n;
	return err;
}

static int open_stream(struct inflater *inflater)
{
	unsigned char head[ZLIB_HEAD_BYTES];
	int err = read_at(inflater, inflater->begin, head, sizeof(head));

	if (err)
		return err;
	if ((head[0] & 15) != Z_DEFLATED || head[0] >> 4 > MAX_WBITS - 8 ||
	    head[1] & 32 || (head[0] << 8 | head[1]) % 31)
		return damaged();
	inflater->in = inflater->begin + ZLIB_HEAD_BYTES;
	inflater->sum = adler32(0, NULL, 0);
	err = vec_push(&inflater->restarts, (struct restart){ .in = inflater->in });
	if (err)
		return err;
	if (inflateInit2(&inflater->z, -MAX_WBITS) != Z_OK)
		return fail(-ENOMEM, "no memory to unpack debug information");
	inflater->is_open = true;
	return 0;
}

/* It is where a block begins. */
static int note_restart(struct inflater *inflater)
{
	const struct restart *last = &inflater->restarts.items[inflater->restarts.n - 1];
	struct restart here = {
		.in = inflater->in - inflater->z.avail_in,
		.out = inflater->out,
		.bits = inflater->z.data_type & 7,
		.n = HISTORY_BYTES,
	};
	int err;

	if (here.out < last->out + inflater->apart)
		return 0;
	here.history = malloc(HISTORY_BYTES);
	if (!here.history)
		return fail(-ENOMEM, "no memory to unpack debug information");
	inflateGetDictionary(&inflater->z, here.history, &here.n);
	err = vec_push(&inflater->restarts, here);
	if (err)
		free(here.history);
	return err;
}

/* What comes for the first time, up to where it is. */
static int check_sum(struct inflater *inflater, const unsigned char *end)
{
	uint64_t fresh = inflater->out - inflater->summed;
	unsigned char sum[ZLIB_SUM_BYTES];

	if (inflater->out <= inflater->summed)
		return 0;
	inflater->sum = adler32(inflater->sum, end - fresh, (unsigned int)fresh);
	inflater->summed = inflater->out;
	if (inflater->out < inflater->size)
		return 0;
	if (read_at(inflater, inflater->end - ZLIB_SUM_BYTES, sum, sizeof(sum)) ||
	    inflater->sum !=
		    ((unsigned long)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]))
		return damaged();
	return 0;
}

/* The next n bytes. */
static int unpack(struct inflater *inflater, unsigned char *buf, size_t n)
{
	z_stream *z = &inflater->z;
	int err = 0, status;

	z->next_out = buf;
	z->avail_out = (unsigned int)n;
	while (!err && z->avail_out) {
		unsigned int before = z->avail_out;

		if (!z->avail_in)
			err = refill(inflater);
		if (err)
			return err;
		status = inflate(z, Z_BLOCK);
		inflater->out += before - z->avail_out;
		if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
			return damaged();
		if (status == Z_STREAM_END && z->avail_out)
			return damaged();
		if (z->data_type & 128 && !(z->data_type & 64))
			err = note_restart(inflater);
	}
	inflater->work += n;
	return err ? err : check_sum(inflater, z->next_out);
}

static int begin_again(struct inflater *inflater, const struct restart *from)
{
	z_stream *z = &inflater->z;
	unsigned char last;
	int err;

	if (inflateReset(z) != Z_OK)
		return damaged();
	z->avail_in = 0;
	inflater->in = from->in;
	inflater->out = from->out;
	if (from->bits) {
		err = read_at(inflater, from->in - 1, &last, 1);
		if (err)
			return err;
		inflatePrime(z, from->bits, last >> (8 - from->bits));
	}
	if (from->n)
		inflateSetDictionary(z, from->history, from->n);
	return 0;
}

/* The last place to begin at that is not behind it. */
static const struct restart *find_restart(const struct inflater *inflater, uint64_t at)
{
	size_t i = inflater->restarts.n - 1;

	while (inflater->restarts.items[i].out > at)
		i--;
	return &inflater->restarts.items[i];
}

static int go_to(struct inflater *inflater, uint64_t at)
{
	const struct restart *from = find_restart(inflater, at);
	int err = 0;

	if (at < inflater->out || from->out > inflater->out)
		err = begin_again(inflater, from);
	while (!err && inflater->out < at) {
		uint64_t n = at - inflater->out;

		err = unpack(inflater, inflater->skipped,
			     n < UNPACK_BYTES ? (size_t)n : UNPACK_BYTES);
	}
	return err;
}

int inflater_read(struct inflater *inflater, uint64_t at, void *buf, size_t n)
{
	int err = inflater->is_open ? 0 : open_stream(inflater);

	if (err)
		return err;
	if (at > inflater->size || n > inflater->size - at)
		return damaged();
	if (inflater->work / AGAIN_MAX > inflater->size + APART_MIN)
		return fail(-EFBIG, "debug information takes too long to unpack");
	err = go_to(inflater, at);
	return err ? err : unpack(inflater, buf, n);
}
