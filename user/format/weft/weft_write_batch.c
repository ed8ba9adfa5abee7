// SPDX-License-Identifier: BSD-2-Clause
/*
 * All batches are one deflated stream, flushed to a byte after each, so that what
 * repeats from second to second costs little, and each can be read without those
 * that follow.
 */
#include "format/weft/weft_write_batch.h"

#include "base/error.h"
#include "base/proto.h"
#include "core/profile.h"
#include "format/gzip.h"

#include <errno.h>
#include <zlib.h>

#define OUT_BYTES (16u << 10)

struct batch {
	struct outfile *out;
	z_stream z;
	struct str items; /* fields that are no columns, encoded */
	struct str columns[BATCH_FIELDS];
	uint64_t before[BATCH_FIELDS];
	size_t raw;
	struct str raw_text, deflated, block;
	uint64_t written;
};

static int write_out(struct batch *batch, const struct str *text)
{
	int err = str_error(text);

	if (!err)
		err = outfile_add(batch->out, text->s, text->n);
	if (!err)
		batch->written += text->n;
	return err;
}

int batch_new(struct batch **ret, struct outfile *out)
{
	AUTO(batch) batch = calloc(1, sizeof(*batch));
	int err;

	if (!batch)
		return fail(-ENOMEM, "no memory for a recording");
	batch->out = out;
	if (deflateInit(&batch->z, DEFLATE_LEVEL) != Z_OK)
		return fail(-ENOMEM, "no memory for compressing");
	proto_add_string(&batch->block, RECORDING_MAGIC, WEFT_MAGIC);
	err = write_out(batch, &batch->block);
	if (err)
		return err;
	*ret = GIVE(batch);
	return 0;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	deflateEnd(&batch->z);
	for (size_t i = 0; i < BATCH_FIELDS; i++)
		str_free(&batch->columns[i]);
	str_free(&batch->items);
	str_free(&batch->raw_text);
	str_free(&batch->deflated);
	str_free(&batch->block);
	free(batch);
}

void batch_put(struct batch *batch, enum batch_field column, uint64_t value)
{
	size_t before = batch->columns[column].n;

	varint_add(&batch->columns[column], value);
	batch->raw += batch->columns[column].n - before;
}

void batch_put_step(struct batch *batch, enum batch_field column, uint64_t value)
{
	batch_put(batch, column, zigzag((int64_t)(value - batch->before[column])));
	batch->before[column] = value;
}

void batch_put_code(struct batch *batch, uint32_t code)
{
	uint64_t *before = &batch->before[BATCH_NODE_CODE];

	if (PROFILE_IS_FRAME(code)) {
		batch_put(batch, BATCH_NODE_CODE, zigzag((int64_t)(code - *before)) << 1);
		*before = code;
	} else {
		batch_put(batch, BATCH_NODE_CODE,
			  (uint64_t)(code >> 28 << 8 | (code & 0xff)) << 1 | 1);
	}
}

void batch_put_item(struct batch *batch, enum batch_field field, const void *bytes,
		    size_t n)
{
	proto_add_item(&batch->items, field, bytes, n);
	batch->raw += n + 2;
}

void batch_put_bytes(struct batch *batch, enum batch_field column, const void *bytes,
		     size_t n)
{
	str_add_bytes(&batch->columns[column], bytes, n);
	batch->raw += n;
}

void batch_put_number(struct batch *batch, enum batch_field field, uint64_t value)
{
	proto_add_uint(&batch->items, field, value);
	batch->raw += 2;
}

int batch_row(struct batch *batch)
{
	return batch->raw < BATCH_RAW_USUALLY ? 0 : batch_write(batch);
}

/* One field after another, in the order of their numbers but for the items,
 * which others refer to or which come once. */
static int join(struct batch *batch)
{
	struct str *raw = &batch->raw_text;
	int err = str_error(&batch->items);

	str_clear(raw);
	str_add_bytes(raw, batch->items.s, batch->items.n);
	str_clear(&batch->items);
	for (unsigned int i = 0; !err && i < BATCH_FIELDS; i++) {
		err = str_error(&batch->columns[i]);
		proto_add_bytes(raw, i, batch->columns[i].s, batch->columns[i].n);
		str_clear(&batch->columns[i]);
		batch->before[i] = 0;
	}
	batch->raw = 0;
	return err ? err : str_error(raw);
}

static int deflate_it(struct batch *batch)
{
	unsigned char chunk[OUT_BYTES];

	str_clear(&batch->deflated);
	batch->z.next_in = (unsigned char *)batch->raw_text.s;
	batch->z.avail_in = (unsigned int)batch->raw_text.n;
	do {
		batch->z.next_out = chunk;
		batch->z.avail_out = sizeof(chunk);
		if (deflate(&batch->z, Z_SYNC_FLUSH) == Z_STREAM_ERROR)
			return fail(-EINVAL, "compressing failed");
		str_add_bytes(&batch->deflated, chunk,
			      sizeof(chunk) - batch->z.avail_out);
	} while (!batch->z.avail_out);
	return str_error(&batch->deflated);
}

int batch_write(struct batch *batch)
{
	AUTO_STR inner = { 0 };
	int err;

	if (!batch->raw)
		return 0;
	err = join(batch);
	if (!err)
		err = deflate_it(batch);
	if (err)
		return err;
	proto_add_fixed32(&inner, BLOCK_CRC32,
			  (uint32_t)crc32(0, (unsigned char *)batch->deflated.s,
					  (unsigned int)batch->deflated.n));
	proto_add_uint(&inner, BLOCK_RAW_BYTES, batch->raw_text.n);
	proto_add_bytes(&inner, BLOCK_DEFLATED, batch->deflated.s, batch->deflated.n);
	str_clear(&batch->block);
	proto_add_item(&batch->block, RECORDING_BLOCKS, inner.s, inner.n);
	err = str_error(&inner);
	return err ? err : write_out(batch, &batch->block);
}

uint64_t batch_bytes_written(const struct batch *batch)
{
	return batch->written;
}
