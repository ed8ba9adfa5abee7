// SPDX-License-Identifier: BSD-2-Clause
#include "obj/process_context.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/proto.h"
#include "obj/names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PAYLOAD_BYTES_MAX (64u << 10)

#define KEY_MAP "threadlocal.attribute_key_map"

/* Fields of opentelemetry's messages. */
enum {
	CONTEXT_RESOURCE = 1, /* ProcessContext */
	CONTEXT_ATTRIBUTE = 2,
	RESOURCE_ATTRIBUTE = 1, /* Resource */
	KEY_VALUE_KEY = 1,	/* KeyValue */
	KEY_VALUE_VALUE = 2,
	ANY_STRING = 1, /* AnyValue */
	ANY_ARRAY = 5,
	ARRAY_VALUE = 1, /* ArrayValue */
};

static int broken(void)
{
	return fail(-EBADMSG, "its process context is no such message");
}

struct key_value {
	struct proto_field key, value; /* value: the text, or the array */
};

/* What an AnyValue holds of that kind; left as it is where that is something else. */
static bool read_any(const struct proto_field *any, unsigned int kind,
		     struct proto_field *ret)
{
	struct proto message = proto_of(any->bytes, any->n);
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.number == kind && field.wire == PROTO_BYTES)
			*ret = field;
	return !message.bad;
}

static int read_attribute(const struct proto_field *from, unsigned int kind,
			  struct key_value *ret)
{
	struct proto message = proto_of(from->bytes, from->n);
	struct proto_field field;

	*ret = (struct key_value){ 0 };
	while (proto_next(&message, &field)) {
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == KEY_VALUE_KEY)
			ret->key = field;
		if (field.number == KEY_VALUE_VALUE &&
		    !read_any(&field, kind, &ret->value))
			return broken();
	}
	return message.bad ? broken() : 0;
}

static int add_resource(struct resource *resource, const struct proto_field *of)
{
	struct proto message = proto_of(of->bytes, of->n);
	struct key_value attribute;
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&message, &field)) {
		if (field.number != RESOURCE_ATTRIBUTE || field.wire != PROTO_BYTES)
			continue;
		err = read_attribute(&field, ANY_STRING, &attribute);
		if (!err && attribute.key.bytes && attribute.value.bytes)
			resource_add(resource, (const char *)attribute.key.bytes,
				     attribute.key.n, (const char *)attribute.value.bytes,
				     attribute.value.n);
	}
	return !err && message.bad ? broken() : err;
}

/* A key that is no text keeps its place. */
static int take_keys(struct process_context *context, const struct proto_field *array)
{
	struct proto message = proto_of(array->bytes, array->n);
	struct proto_field field, text;

	context->n_keys = 0;
	while (proto_next(&message, &field) && context->n_keys < ATTRIBUTE_KEYS) {
		text = (struct proto_field){ 0 };
		if (field.number != ARRAY_VALUE || field.wire != PROTO_BYTES)
			continue;
		if (!read_any(&field, ANY_STRING, &text))
			return broken();
		context->keys[context->n_keys++] =
			(struct context_key){ text.bytes, text.n };
	}
	return message.bad ? broken() : 0;
}

static int add_own(struct process_context *context, const struct proto_field *of)
{
	struct key_value attribute;
	int err = read_attribute(of, ANY_ARRAY, &attribute);

	if (err || !attribute.value.bytes || attribute.key.n != strlen(KEY_MAP) ||
	    memcmp(attribute.key.bytes, KEY_MAP, attribute.key.n) != 0)
		return err;
	return take_keys(context, &attribute.value);
}

int process_context_read(struct process_context *ret, const void *bytes, size_t n)
{
	struct proto message = proto_of(bytes, n);
	struct process_context context = { 0 };
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&message, &field)) {
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == CONTEXT_RESOURCE)
			err = add_resource(&context.resource, &field);
		if (field.number == CONTEXT_ATTRIBUTE)
			err = add_own(&context, &field);
	}
	if (!err && message.bad)
		err = broken();
	if (!err)
		*ret = context;
	return err;
}

static int read_file(int fd, unsigned char *bytes, size_t *ret_n)
{
	ssize_t n = pread(fd, bytes, PAYLOAD_BYTES_MAX, 0);

	if (n < 0)
		return fail_errno(-errno, "cannot read a process context");
	*ret_n = (size_t)n;
	return 0;
}

/* Of an attribute of the resource, or a key; "": there is none. */
static const char *value_at(const struct process_context *context, uint64_t at,
			    char clean[RESOURCE_VALUE_BYTES])
{
	uint64_t index = at - PROCESS_CONTEXT_KEYS;

	if (at < N_RESOURCE_ATTRIBUTES)
		return context->resource.values[at];
	if (index >= context->n_keys || context->keys[index].n >= RESOURCE_VALUE_BYTES)
		return "";
	return str_clean(clean, RESOURCE_VALUE_BYTES,
			 (const char *)context->keys[index].text, context->keys[index].n);
}

int process_context_values(int fd, const uint64_t *attributes, size_t n, name_sink sink,
			   void *arg)
{
	AUTO_FREE unsigned char *bytes = malloc(PAYLOAD_BYTES_MAX);
	struct process_context context = { 0 };
	char clean[RESOURCE_VALUE_BYTES];
	size_t n_bytes = 0;
	int err = bytes ? read_file(fd, bytes, &n_bytes)
			: fail(-ENOMEM, "no memory for a process context");

	if (!err)
		err = process_context_read(&context, bytes, n_bytes);
	for (size_t i = 0; !err && i < n; i++) {
		const char *value = value_at(&context, attributes[i], clean);

		if (*value)
			err = sink(arg, i, value, 0);
	}
	return err;
}
