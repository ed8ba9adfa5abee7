// SPDX-License-Identifier: BSD-2-Clause
/*
 * As zran.c of zlib has it: deflated data is a sequence of blocks, and where one begins,
 * the bytes before it and how many bits of the last byte are still to come are all that
 * it takes to go on. The sum of all bytes, which stands behind them, is compared when
 * their end comes for the first time.
 */
#include "obj/unpacker.h"

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

struct unpacker {
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

int unpacker_new(struct unpacker **ret, int fd, uint64_t offset, uint64_t n,
		 uint64_t size)
{
	struct unpacker *unpacker;

	if (n < ZLIB_HEAD_BYTES + ZLIB_SUM_BYTES || size / RATIO_MAX > n)
		return damaged();
	unpacker = calloc(1, sizeof(*unpacker));
	if (!unpacker)
		return fail(-ENOMEM, "no memory to unpack debug information");
	unpacker->fd = fd;
	unpacker->begin = offset;
	unpacker->end = offset + n;
	unpacker->size = size;
	unpacker->apart =
		size / RESTARTS_MAX > APART_MIN ? size / RESTARTS_MAX : APART_MIN;
	*ret = unpacker;
	return 0;
}

void unpacker_free(struct unpacker *unpacker)
{
	if (!unpacker)
		return;
	for (size_t i = 0; i < unpacker->restarts.n; i++)
		free(unpacker->restarts.items[i].history);
	vec_free(&unpacker->restarts);
	if (unpacker->is_open)
		inflateEnd(&unpacker->z);
	free(unpacker);
}

bool unpacker_is_behind(const struct unpacker *unpacker, uint64_t at)
{
	return at < unpacker->out;
}

static int read_at(const struct unpacker *unpacker, uint64_t at, void *buf, size_t n)
{
	return pread(unpacker->fd, buf, n, (off_t)at) == (ssize_t)n ? 0 : damaged();
}

static int refill(struct unpacker *unpacker)
{
	uint64_t left = unpacker->end - ZLIB_SUM_BYTES - unpacker->in;
	size_t n = left < UNPACK_BYTES ? (size_t)left : UNPACK_BYTES;
	int err = n ? read_at(unpacker, unpacker->in, unpacker->packed, n) : damaged();

	unpacker->in += n;
	unpacker->z.next_in = unpacker->packed;
	unpacker->z.avail_in = (unsigned int)n;
	return err;
}

static int open_stream(struct unpacker *unpacker)
{
	unsigned char head[ZLIB_HEAD_BYTES];
	int err = read_at(unpacker, unpacker->begin, head, sizeof(head));

	if (err)
		return err;
	if ((head[0] & 15) != Z_DEFLATED || head[0] >> 4 > MAX_WBITS - 8 ||
	    head[1] & 32 || (head[0] << 8 | head[1]) % 31)
		return damaged();
	unpacker->in = unpacker->begin + ZLIB_HEAD_BYTES;
	unpacker->sum = adler32(0, NULL, 0);
	err = vec_push(&unpacker->restarts, (struct restart){ .in = unpacker->in });
	if (err)
		return err;
	if (inflateInit2(&unpacker->z, -MAX_WBITS) != Z_OK)
		return fail(-ENOMEM, "no memory to unpack debug information");
	unpacker->is_open = true;
	return 0;
}

/* It is where a block begins. */
static int note_restart(struct unpacker *unpacker)
{
	const struct restart *last = &unpacker->restarts.items[unpacker->restarts.n - 1];
	struct restart here = {
		.in = unpacker->in - unpacker->z.avail_in,
		.out = unpacker->out,
		.bits = unpacker->z.data_type & 7,
		.n = HISTORY_BYTES,
	};
	int err;

	if (here.out < last->out + unpacker->apart)
		return 0;
	here.history = malloc(HISTORY_BYTES);
	if (!here.history)
		return fail(-ENOMEM, "no memory to unpack debug information");
	inflateGetDictionary(&unpacker->z, here.history, &here.n);
	err = vec_push(&unpacker->restarts, here);
	if (err)
		free(here.history);
	return err;
}

/* What comes for the first time, up to where it is. */
static int check_sum(struct unpacker *unpacker, const unsigned char *end)
{
	uint64_t fresh = unpacker->out - unpacker->summed;
	unsigned char sum[ZLIB_SUM_BYTES];

	if (unpacker->out <= unpacker->summed)
		return 0;
	unpacker->sum = adler32(unpacker->sum, end - fresh, (unsigned int)fresh);
	unpacker->summed = unpacker->out;
	if (unpacker->out < unpacker->size)
		return 0;
	if (read_at(unpacker, unpacker->end - ZLIB_SUM_BYTES, sum, sizeof(sum)) ||
	    unpacker->sum !=
		    ((unsigned long)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]))
		return damaged();
	return 0;
}

/* The next n bytes. */
static int unpack(struct unpacker *unpacker, unsigned char *buf, size_t n)
{
	z_stream *z = &unpacker->z;
	int err = 0, status;

	z->next_out = buf;
	z->avail_out = (unsigned int)n;
	while (!err && z->avail_out) {
		unsigned int before = z->avail_out;

		if (!z->avail_in)
			err = refill(unpacker);
		if (err)
			return err;
		status = inflate(z, Z_BLOCK);
		unpacker->out += before - z->avail_out;
		if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
			return damaged();
		if (status == Z_STREAM_END && z->avail_out)
			return damaged();
		if (z->data_type & 128 && !(z->data_type & 64))
			err = note_restart(unpacker);
	}
	unpacker->work += n;
	return err ? err : check_sum(unpacker, z->next_out);
}

static int begin_again(struct unpacker *unpacker, const struct restart *from)
{
	z_stream *z = &unpacker->z;
	unsigned char last;
	int err;

	if (inflateReset(z) != Z_OK)
		return damaged();
	z->avail_in = 0;
	unpacker->in = from->in;
	unpacker->out = from->out;
	if (from->bits) {
		err = read_at(unpacker, from->in - 1, &last, 1);
		if (err)
			return err;
		inflatePrime(z, from->bits, last >> (8 - from->bits));
	}
	if (from->n)
		inflateSetDictionary(z, from->history, from->n);
	return 0;
}

/* The last place to begin at that is not behind it. */
static const struct restart *find_restart(const struct unpacker *unpacker, uint64_t at)
{
	size_t i = unpacker->restarts.n - 1;

	while (unpacker->restarts.items[i].out > at)
		i--;
	return &unpacker->restarts.items[i];
}

static int go_to(struct unpacker *unpacker, uint64_t at)
{
	const struct restart *from = find_restart(unpacker, at);
	int err = 0;

	if (at < unpacker->out || from->out > unpacker->out)
		err = begin_again(unpacker, from);
	while (!err && unpacker->out < at) {
		uint64_t n = at - unpacker->out;

		err = unpack(unpacker, unpacker->skipped,
			     n < UNPACK_BYTES ? (size_t)n : UNPACK_BYTES);
	}
	return err;
}

int unpacker_read(struct unpacker *unpacker, uint64_t at, void *buf, size_t n)
{
	int err = unpacker->is_open ? 0 : open_stream(unpacker);

	if (err)
		return err;
	if (at > unpacker->size || n > unpacker->size - at)
		return damaged();
	if (unpacker->work / AGAIN_MAX > unpacker->size + APART_MIN)
		return fail(-EFBIG, "debug information takes too long to unpack");
	err = go_to(unpacker, at);
	return err ? err : unpack(unpacker, buf, n);
}
