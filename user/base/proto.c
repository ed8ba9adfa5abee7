// SPDX-License-Identifier: BSD-2-Clause
#include "base/proto.h"

#include <string.h>

static void add_key(struct str *out, unsigned int field, enum proto_wire wire)
{
	varint_add(out, (uint64_t)field << 3 | wire);
}

void proto_add_uint(struct str *out, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	add_key(out, field, PROTO_VARINT);
	varint_add(out, value);
}

void proto_add_item(struct str *out, unsigned int field, const void *bytes, size_t n)
{
	add_key(out, field, PROTO_BYTES);
	varint_add(out, n);
	str_add_bytes(out, bytes, n);
}

void proto_add_bytes(struct str *out, unsigned int field, const void *bytes, size_t n)
{
	if (n)
		proto_add_item(out, field, bytes, n);
}

void proto_add_string(struct str *out, unsigned int field, const char *s)
{
	proto_add_bytes(out, field, s, strlen(s));
}

static void add_fixed(struct str *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		str_add_char(out, (char)(value >> 8 * i & 0xff));
}

void proto_add_fixed32(struct str *out, unsigned int field, uint32_t value)
{
	add_key(out, field, PROTO_32);
	add_fixed(out, value, 4);
}

void proto_add_fixed64(struct str *out, unsigned int field, uint64_t value)
{
	add_key(out, field, PROTO_64);
	add_fixed(out, value, 8);
}

static bool read_fixed(struct proto *proto, size_t n, uint64_t *ret)
{
	if (proto->n - proto->at < n)
		return false;
	*ret = 0;
	for (size_t i = 0; i < n; i++)
		*ret |= (uint64_t)proto->bytes[proto->at++] << 8 * i;
	return true;
}

static bool read_value(struct proto *proto, struct proto_field *field)
{
	switch (field->wire) {
	case PROTO_VARINT:
		return varint_get(proto->bytes, proto->n, &proto->at, &field->value);
	case PROTO_64:
		return read_fixed(proto, 8, &field->value);
	case PROTO_32:
		return read_fixed(proto, 4, &field->value);
	case PROTO_BYTES:
		if (!varint_get(proto->bytes, proto->n, &proto->at, &field->value) ||
		    field->value > proto->n - proto->at)
			return false;
		field->bytes = proto->bytes + proto->at;
		field->n = (size_t)field->value;
		proto->at += field->n;
		return true;
	}
	return false; /* groups went out of use before there was proto3 */
}

bool proto_next(struct proto *proto, struct proto_field *ret)
{
	uint64_t key;

	if (proto->bad || proto->at == proto->n)
		return false;
	*ret = (struct proto_field){ 0 };
	if (varint_get(proto->bytes, proto->n, &proto->at, &key) &&
	    key >> 3 <= UINT32_MAX >> 3) {
		ret->number = (unsigned int)(key >> 3);
		ret->wire = (enum proto_wire)(key & 7);
		if (ret->number && read_value(proto, ret))
			return true;
	}
	proto->bad = true;
	return false;
}

bool proto_number(const struct proto_field *field, size_t *at, uint64_t *ret)
{
	if (field->wire == PROTO_BYTES)
		return *at < field->n && varint_get(field->bytes, field->n, at, ret);
	*ret = field->value;
	return !(*at)++;
}
