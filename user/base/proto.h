/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protobuf's wire format, written and read a field at a time: all that pprof and
 * our recordings need of it, so that neither a library nor generated code has to
 * be built.
 */
#ifndef WEFT_BASE_PROTO_H
#define WEFT_BASE_PROTO_H

#include "base/str.h"
#include "base/varint.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_64 = 1, PROTO_BYTES = 2, PROTO_32 = 5 };

/* 0 and empty are left out, as proto3 does. */
void proto_add_uint(struct str *out, unsigned int field, uint64_t value);
void proto_add_bytes(struct str *out, unsigned int field, const void *bytes, size_t n);
void proto_add_string(struct str *out, unsigned int field, const char *s);
void proto_add_fixed32(struct str *out, unsigned int field, uint32_t value);
void proto_add_fixed64(struct str *out, unsigned int field, uint64_t value);
/* Also when it is empty: an element of a repeated field. */
void proto_add_item(struct str *out, unsigned int field, const void *bytes, size_t n);

struct proto {
	const unsigned char *bytes;
	size_t n, at;
	bool bad; /* what was read is no message */
};

struct proto_field {
	unsigned int number;
	enum proto_wire wire;
	uint64_t value;		    /* all but PROTO_BYTES */
	const unsigned char *bytes; /* PROTO_BYTES: borrowed from the message */
	size_t n;
};

/* false: the end, or bad. */
bool proto_next(struct proto *proto, struct proto_field *ret);

/* A repeated number, packed or not: for (at = 0; proto_number(&f, &at, &v);).
 * Sets bad of no one: what does not end there is left out. */
bool proto_number(const struct proto_field *field, size_t *at, uint64_t *ret);

static inline struct proto proto_of(const void *bytes, size_t n)
{
	return (struct proto){ .bytes = bytes, .n = n };
}

#endif
