// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a recording, docs/format.md: blocks up to the first that is not whole or
 * not right, and of each batch the rows up to the first that refers to what is
 * not there.
 */
#include "format/reader.h"
#include "format/weft/weft_read_batch.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/weft/weft_fields.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

struct loader {
	struct source *source;
	struct batch_reader batch;
	z_stream z;
	struct str block, raw;
};

static bool is_recording(const char *head, size_t n)
{
	_Static_assert(sizeof(WEFT_MAGIC) - 1 == 0x11, "its length is its field's");
	/* any version */
	return n >= sizeof(WEFT_MAGIC_FIELD) - 1 &&
	       !memcmp(head, WEFT_MAGIC_FIELD, sizeof(WEFT_MAGIC_FIELD) - 3);
}

static bool read_varint(struct source *source, uint64_t *ret)
{
	unsigned char bytes[VARINT_BYTES_MAX];
	size_t n = 0, at = 0;

	do {
		if (n == sizeof(bytes) || !source_read(source, bytes + n, 1))
			return false;
	} while (bytes[n++] & 0x80);
	return varint_get(bytes, n, &at, ret);
}

/* The next field of the file, which is one of bytes; false: the end, or cut. */
static bool read_field(struct loader *l, uint64_t *ret_number)
{
	uint64_t key, n;
	char chunk[4096];

	if (!read_varint(l->source, &key))
		return false;
	l->batch.was_cut = true; /* until the field is there */
	if ((key & 7) != PROTO_BYTES || !read_varint(l->source, &n) || n > BLOCK_RAW_MAX)
		return false;
	str_clear(&l->block);
	while (n) {
		size_t some = n < sizeof(chunk) ? (size_t)n : sizeof(chunk);

		if (source_read(l->source, chunk, some) != some)
			return false;
		str_add_bytes(&l->block, chunk, some);
		n -= some;
	}
	l->batch.was_cut = false;
	*ret_number = key >> 3;
	return !str_error(&l->block);
}

static bool unpack(struct loader *l, const struct proto_field *deflated, size_t n_raw)
{
	unsigned char chunk[16384];

	str_clear(&l->raw);
	l->z.next_in = (unsigned char *)deflated->bytes;
	l->z.avail_in = (unsigned int)deflated->n;
	do {
		int code;

		l->z.next_out = chunk;
		l->z.avail_out = sizeof(chunk);
		code = inflate(&l->z, Z_SYNC_FLUSH);
		if (code != Z_OK && code != Z_BUF_ERROR)
			return false;
		str_add_bytes(&l->raw, chunk, sizeof(chunk) - l->z.avail_out);
		if (l->raw.n > n_raw)
			return false;
	} while (!l->z.avail_out);
	return !l->z.avail_in && l->raw.n == n_raw && !str_error(&l->raw);
}

static bool read_block(struct loader *l)
{
	struct proto proto = proto_of(l->block.s, l->block.n);
	struct proto_field field, deflated = { 0 };
	uint64_t crc = 0, n_raw = 0;

	while (proto_next(&proto, &field)) {
		if (field.number == BLOCK_CRC32 && field.wire == PROTO_32)
			crc = field.value;
		else if (field.number == BLOCK_RAW_BYTES && field.wire == PROTO_VARINT)
			n_raw = field.value;
		else if (field.number == BLOCK_DEFLATED && field.wire == PROTO_BYTES)
			deflated = field;
	}
	return !proto.bad && deflated.bytes && n_raw <= BLOCK_RAW_MAX &&
	       crc == crc32(0, deflated.bytes, (unsigned int)deflated.n) &&
	       unpack(l, &deflated, (size_t)n_raw);
}

static int check_magic(const struct loader *l)
{
	size_t digit = strlen(WEFT_MAGIC) - 2;
	bool older;
	int err;

	if (l->block.n == strlen(WEFT_MAGIC) &&
	    !memcmp(l->block.s, WEFT_MAGIC, l->block.n))
		return 0;
	older = l->block.n > digit && l->block.s[digit] < WEFT_MAGIC[digit];
	err = fail(-EPROTO, "%s was written by %s version of weft",
		   source_name(l->source), older ? "an older" : "a newer");
	return fail_hint(
		err,
		older ? "convert the file to .pb.gz with the older one"
		      : "update weft, or convert the file to .pb.gz with the newer one");
}

static int read_all(struct loader *l)
{
	uint64_t number;
	int err = 0;

	while (!err && read_field(l, &number)) {
		if (number == RECORDING_MAGIC) {
			err = check_magic(l);
		} else if (number == RECORDING_BLOCKS) {
			if (!read_block(l)) {
				l->batch.was_cut = true;
				break;
			}
			err = batch_apply(&l->batch, l->raw.s, l->raw.n);
			if (err == BATCH_DAMAGED) {
				l->batch.was_cut = true;
				return 0;
			}
		}
	}
	return err;
}

static int weft_read(struct source *source, struct profile *profile)
{
	struct loader l = { .source = source, .batch.profile = profile };
	int err;

	if (inflateInit(&l.z) != Z_OK)
		return fail(-ENOMEM, "no memory for unpacking");
	err = read_all(&l);
	inflateEnd(&l.z);
	str_free(&l.block);
	str_free(&l.raw);
	profile->was_cut = l.batch.was_cut || !l.batch.is_complete;
	return err;
}

const struct reader weft_reader = {
	.name = "recordings of weft",
	.accepts = is_recording,
	.read = weft_read,
};
