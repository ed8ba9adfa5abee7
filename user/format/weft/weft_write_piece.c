// SPDX-License-Identifier: BSD-2-Clause
/*
 * All pieces are one deflated stream, flushed to a byte after each, so that what
 * repeats from second to second costs little, and each can be read without those
 * that follow.
 */
#include "format/weft/weft_write_piece.h"

#include "base/error.h"
#include "base/proto.h"
#include "core/reading.h"

#include <errno.h>
#include <zlib.h>

#define DEFLATE_LEVEL 6
#define OUT_BYTES     (64u << 10)

struct piece {
	struct outfile *out;
	z_stream z;
	struct str items; /* fields that are no columns, encoded */
	struct str columns[PIECE_FIELDS];
	uint64_t before[PIECE_FIELDS];
	size_t raw;
	struct str raw_text, deflated, block;
	uint64_t written;
};

static int write_out(struct piece *piece, const struct str *text)
{
	int err = str_error(text);

	if (!err)
		err = outfile_add(piece->out, text->s, text->n);
	if (!err)
		piece->written += text->n;
	return err;
}

int piece_new(struct piece **ret, struct outfile *out)
{
	AUTO(piece) piece = calloc(1, sizeof(*piece));
	int err;

	if (!piece)
		return fail(-ENOMEM, "no memory for a recording");
	piece->out = out;
	if (deflateInit(&piece->z, DEFLATE_LEVEL) != Z_OK)
		return fail(-ENOMEM, "no memory for compressing");
	proto_add_string(&piece->block, RECORDING_MAGIC_FIELD, RECORDING_MAGIC);
	err = write_out(piece, &piece->block);
	if (err)
		return err;
	*ret = GIVE(piece);
	return 0;
}

void piece_free(struct piece *piece)
{
	if (!piece)
		return;
	deflateEnd(&piece->z);
	for (size_t i = 0; i < PIECE_FIELDS; i++)
		str_free(&piece->columns[i]);
	str_free(&piece->items);
	str_free(&piece->raw_text);
	str_free(&piece->deflated);
	str_free(&piece->block);
	free(piece);
}

void piece_put(struct piece *piece, enum piece_field column, uint64_t value)
{
	size_t before = piece->columns[column].n;

	varint_add(&piece->columns[column], value);
	piece->raw += piece->columns[column].n - before;
}

void piece_put_step(struct piece *piece, enum piece_field column, uint64_t value)
{
	piece_put(piece, column, zigzag((int64_t)(value - piece->before[column])));
	piece->before[column] = value;
}

void piece_put_code(struct piece *piece, uint32_t code)
{
	uint64_t *before = &piece->before[PIECE_NODE_CODE];

	if (READING_IS_FRAME(code)) {
		piece_put(piece, PIECE_NODE_CODE, zigzag((int64_t)(code - *before)) << 1);
		*before = code;
	} else {
		piece_put(piece, PIECE_NODE_CODE,
			  (uint64_t)(code >> 28 << 8 | (code & 0xff)) << 1 | 1);
	}
}

void piece_put_item(struct piece *piece, enum piece_field field, const void *bytes,
		    size_t n)
{
	proto_add_item(&piece->items, field, bytes, n);
	piece->raw += n + 2;
}

void piece_put_bytes(struct piece *piece, enum piece_field column, const void *bytes,
		     size_t n)
{
	str_add_bytes(&piece->columns[column], bytes, n);
	piece->raw += n;
}

void piece_put_number(struct piece *piece, enum piece_field field, uint64_t value)
{
	proto_add_uint(&piece->items, field, value);
	piece->raw += 2;
}

int piece_row(struct piece *piece)
{
	return piece->raw < PIECE_RAW_USUALLY ? 0 : piece_write(piece);
}

/* One field after another, in the order of their numbers but for the items,
 * which others refer to or which come once. */
static int join(struct piece *piece)
{
	struct str *raw = &piece->raw_text;
	int err = str_error(&piece->items);

	str_clear(raw);
	str_add_bytes(raw, piece->items.s, piece->items.n);
	str_clear(&piece->items);
	for (unsigned int i = 0; !err && i < PIECE_FIELDS; i++) {
		err = str_error(&piece->columns[i]);
		proto_add_bytes(raw, i, piece->columns[i].s, piece->columns[i].n);
		str_clear(&piece->columns[i]);
		piece->before[i] = 0;
	}
	piece->raw = 0;
	return err ? err : str_error(raw);
}

static int deflate_it(struct piece *piece)
{
	unsigned char chunk[OUT_BYTES];

	str_clear(&piece->deflated);
	piece->z.next_in = (unsigned char *)piece->raw_text.s;
	piece->z.avail_in = (unsigned int)piece->raw_text.n;
	do {
		piece->z.next_out = chunk;
		piece->z.avail_out = sizeof(chunk);
		if (deflate(&piece->z, Z_SYNC_FLUSH) == Z_STREAM_ERROR)
			return fail(-EINVAL, "compressing failed");
		str_add_bytes(&piece->deflated, chunk,
			      sizeof(chunk) - piece->z.avail_out);
	} while (!piece->z.avail_out);
	return str_error(&piece->deflated);
}

int piece_write(struct piece *piece)
{
	AUTO_STR inner = { 0 };
	int err;

	if (!piece->raw)
		return 0;
	err = join(piece);
	if (!err)
		err = deflate_it(piece);
	if (err)
		return err;
	proto_add_fixed32(&inner, BLOCK_CRC32,
			  (uint32_t)crc32(0, (unsigned char *)piece->deflated.s,
					  (unsigned int)piece->deflated.n));
	proto_add_uint(&inner, BLOCK_RAW_BYTES, piece->raw_text.n);
	proto_add_bytes(&inner, BLOCK_DEFLATED, piece->deflated.s, piece->deflated.n);
	str_clear(&piece->block);
	proto_add_item(&piece->block, RECORDING_BLOCK, inner.s, inner.n);
	err = str_error(&inner);
	return err ? err : write_out(piece, &piece->block);
}

uint64_t piece_bytes_written(const struct piece *piece)
{
	return piece->written;
}
