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

/* Fields of opentelemetry's messages. */
enum {
	CONTEXT_RESOURCE = 1,	/* ProcessContext */
	RESOURCE_ATTRIBUTE = 1, /* Resource */
	KEY_VALUE_KEY = 1,	/* KeyValue */
	KEY_VALUE_VALUE = 2,
	ANY_STRING = 1, /* AnyValue */
};

static int broken(void)
{
	return fail(-EBADMSG, "its process context is no such message");
}

/* The text of an AnyValue; left as it is where that is something else. */
static bool read_string(const struct proto_field *any, struct proto_field *ret)
{
	struct proto message = proto_of(any->bytes, any->n);
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.number == ANY_STRING && field.wire == PROTO_BYTES)
			*ret = field;
	return !message.bad;
}

static int add_attribute(struct resource *resource, const struct proto_field *attribute)
{
	struct proto message = proto_of(attribute->bytes, attribute->n);
	struct proto_field field, key = { 0 }, value = { 0 };

	while (proto_next(&message, &field)) {
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == KEY_VALUE_KEY)
			key = field;
		if (field.number == KEY_VALUE_VALUE && !read_string(&field, &value))
			return broken();
	}
	if (message.bad)
		return broken();
	if (key.bytes && value.bytes)
		resource_add(resource, (const char *)key.bytes, key.n,
			     (const char *)value.bytes, value.n);
	return 0;
}

static int add_resource(struct resource *resource, const struct proto_field *of)
{
	struct proto message = proto_of(of->bytes, of->n);
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&message, &field))
		if (field.number == RESOURCE_ATTRIBUTE && field.wire == PROTO_BYTES)
			err = add_attribute(resource, &field);
	return !err && message.bad ? broken() : err;
}

int process_context_read(struct resource *ret, const void *bytes, size_t n)
{
	struct proto message = proto_of(bytes, n);
	struct resource resource = { 0 };
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&message, &field))
		if (field.number == CONTEXT_RESOURCE && field.wire == PROTO_BYTES)
			err = add_resource(&resource, &field);
	if (!err && message.bad)
		err = broken();
	if (!err)
		*ret = resource;
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

int process_context_values(int fd, const uint64_t *attributes, size_t n, name_sink sink,
			   void *arg)
{
	AUTO_FREE unsigned char *bytes = malloc(PAYLOAD_BYTES_MAX);
	struct resource resource = { 0 };
	size_t n_bytes = 0;
	int err = bytes ? read_file(fd, bytes, &n_bytes)
			: fail(-ENOMEM, "no memory for a process context");

	if (!err)
		err = process_context_read(&resource, bytes, n_bytes);
	for (size_t i = 0; !err && i < n; i++)
		if (attributes[i] < N_RESOURCE_ATTRIBUTES &&
		    *resource.values[attributes[i]])
			err = sink(arg, i, resource.values[attributes[i]], 0);
	return err;
}
