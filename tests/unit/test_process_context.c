/* SPDX-License-Identifier: BSD-2-Clause */
/* A process context: its mapping's names, its header with each field wrong, its payload,
 * and how it is read from a process that publishes one, or lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/proto.h"
#include "child.h"
#include "obj/process_context.h"
#include "proc/open_context.h"
#include "proc/open_copy.h"

static void knows_the_mapping_by_its_names(void **state)
{
	static const struct {
		const char *line;
		bool is_one;
	} lines[] = {
		{ "7f00-8000 rw-p 00000000 00:01 22    /memfd:OTEL_CTX (deleted)\n",
		  true },
		{ "7f00-8000 rw-p 00000000 00:00 0    [anon:OTEL_CTX]\n", true },
		{ "7f00-8000 rw-p 00000000 00:01 7    [anon_shmem:OTEL_CTX]\n", true },
		{ "7f00-8000 rw-p 00000000 00:01 22    /tmp/memfd:OTEL_CTX\n", false },
		{ "7f00-8000 rw-p 00000000 00:00 0\n", false },
		{ "7f00-8000 rw-p 00000000 00:00 0    [heap]\n", false },
		{ "[anon:OTEL_CTX]\n", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		uint64_t start = 0;

		assert_int_equal(context_is_mapping(lines[i].line, &start),
				 lines[i].is_one);
		if (lines[i].is_one)
			assert_int_equal(start, 0x7f00);
	}
}

static const struct context_header right = {
	{ 'O', 'T', 'E', 'L', '_', 'C', 'T', 'X' }, 2, CONTEXT_BYTES_MAX, 1, 0x1000
};

static void checks_each_field_of_the_header(void **state)
{
	struct context_header header = right;

	assert_int_equal(context_check(&header), 0);
	for (size_t i = 0; i < sizeof(header.signature); i++) {
		header = right;
		header.signature[i] ^= 0x20;
		assert_int_equal(context_check(&header), -EBADMSG);
	}
	header = right;
	header.version = 3;
	assert_int_equal(context_check(&header), -EBADMSG);
	header = right;
	header.published_ns = 0;
	assert_int_equal(context_check(&header), -EAGAIN);
	header = right;
	header.payload_bytes = CONTEXT_BYTES_MAX + 1;
	assert_int_equal(context_check(&header), -EFBIG);
	error_clear();
}

static void add_attribute(struct str *resource, const char *key, const char *value)
{
	AUTO_STR any = { 0 };
	AUTO_STR pair = { 0 };

	proto_add_string(&any, 1, value);
	proto_add_string(&pair, 1, key);
	proto_add_bytes(&pair, 2, any.s, any.n);
	proto_add_bytes(resource, 1, pair.s, pair.n);
}

static void reads_the_attributes_of_a_resource(void **state)
{
	struct process_context context;
	AUTO_STR payload = { 0 };
	AUTO_STR inner = { 0 };

	add_attribute(&inner, "service.name", "checkout\n");
	add_attribute(&inner, "service.name", "again");
	add_attribute(&inner, "other", "x");
	add_attribute(&inner, "deployment.environment.name", "prod");
	proto_add_uint(&inner, 2, 5);
	proto_add_bytes(&payload, 1, inner.s, inner.n);
	proto_add_bytes(&payload, 2, "\x0a\x01k", 3);
	assert_int_equal(process_context_read(&context, payload.s, payload.n), 0);
	assert_string_equal(context.resource.values[RESOURCE_SERVICE_NAME], "checkout?");
	assert_string_equal(context.resource.values[RESOURCE_DEPLOYMENT], "prod");
	assert_string_equal(context.resource.values[RESOURCE_SERVICE_NAMESPACE], "");
	assert_int_equal(process_context_read(&context, "", 0), 0);
	assert_string_equal(context.resource.values[RESOURCE_SERVICE_NAME], "");
}

/* An AnyValue of text; NULL: of a number. */
static void add_key(struct str *array, const char *text)
{
	AUTO_STR any = { 0 };

	if (text)
		proto_add_string(&any, 1, text);
	else
		proto_add_uint(&any, 3, 5);
	proto_add_item(array, 1, any.s, any.n);
}

static void add_key_map(struct str *payload, const char *key, const struct str *array)
{
	AUTO_STR any = { 0 };
	AUTO_STR pair = { 0 };

	proto_add_bytes(&any, 5, array->s, array->n);
	proto_add_string(&pair, 1, key);
	proto_add_bytes(&pair, 2, any.s, any.n);
	proto_add_bytes(payload, 2, pair.s, pair.n);
}

static void is_key(const struct process_context *context, size_t index, const char *text)
{
	assert_int_equal(context->keys[index].n, strlen(text));
	assert_memory_equal(context->keys[index].text, text, strlen(text));
}

static void reads_the_keys_of_threads_attributes(void **state)
{
	AUTO_FREE struct process_context *context = malloc(sizeof(*context));
	AUTO_STR payload = { 0 };
	AUTO_STR array = { 0 };

	add_key(&array, "http.route");
	add_key(&array, NULL);
	add_key(&array, "user.id");
	add_key_map(&payload, "threadlocal.another_map", &array);
	assert_int_equal(process_context_read(context, payload.s, payload.n), 0);
	assert_int_equal(context->n_keys, 0);
	add_key_map(&payload, "threadlocal.attribute_key_map", &array);
	assert_int_equal(process_context_read(context, payload.s, payload.n), 0);
	assert_int_equal(context->n_keys, 3);
	is_key(context, 0, "http.route");
	assert_null(context->keys[1].text);
	is_key(context, 2, "user.id");
	for (size_t n = payload.n - 1; n > payload.n - array.n; n--)
		assert_int_equal(process_context_read(context, payload.s, n), -EBADMSG);
	for (int i = 0; i < ATTRIBUTE_KEYS; i++)
		add_key(&array, "more");
	str_clear(&payload);
	add_key_map(&payload, "threadlocal.attribute_key_map", &array);
	assert_int_equal(process_context_read(context, payload.s, payload.n), 0);
	assert_int_equal(context->n_keys, ATTRIBUTE_KEYS);
	error_clear();
}

/* Of each beginning of a message, either all of it is taken, or nothing. */
static void takes_nothing_of_what_is_broken(void **state)
{
	struct process_context context;
	AUTO_STR payload = { 0 };
	AUTO_STR inner = { 0 };

	add_attribute(&inner, "service.name", "checkout");
	proto_add_bytes(&payload, 1, inner.s, inner.n);
	for (size_t n = 1; n < payload.n; n++) {
		memset(&context, 0, sizeof(context));
		assert_int_equal(process_context_read(&context, payload.s, n), -EBADMSG);
		assert_string_equal(context.resource.values[RESOURCE_SERVICE_NAME], "");
	}
	error_clear();
}

/* As an SDK has it, where a kernel names no mappings. It is in our children, too. */
static struct context_header *publish(const struct str *payload)
{
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct context_header *header;

	assert_true(fd >= 0 && !ftruncate(fd, 4096));
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_true(header != MAP_FAILED);
	*header = right;
	header->payload = (uint64_t)(uintptr_t)payload->s;
	header->payload_bytes = (uint32_t)payload->n;
	return header;
}

static int open_of_child(int *ret_fd)
{
	pid_t child = new_child();
	int err = open_context(child, ret_fd);

	end_child(child);
	return err;
}

static void reads_what_a_process_publishes(void **state)
{
	AUTO_STR payload = { 0 };
	AUTO_CLOSE int fd = -1;
	char bytes[64];
	struct context_header *header;

	assert_int_equal(open_of_child(&fd), -ENOENT);
	str_add(&payload, "a payload");
	header = publish(&payload);
	assert_int_equal(open_of_child(&fd), 0);
	assert_true(open_is_copy(fd));
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 9);
	assert_memory_equal(bytes, "a payload", 9);
	header->payload = 16;
	assert_int_equal(open_of_child(&fd), -EFAULT);
	header->published_ns = 0;
	assert_int_equal(open_of_child(&fd), -EAGAIN);
	header->version = 1;
	assert_int_equal(open_of_child(&fd), -EBADMSG);
	error_clear();
	munmap(header, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_mapping_by_its_names),
		cmocka_unit_test(checks_each_field_of_the_header),
		cmocka_unit_test(reads_the_attributes_of_a_resource),
		cmocka_unit_test(reads_the_keys_of_threads_attributes),
		cmocka_unit_test(takes_nothing_of_what_is_broken),
		cmocka_unit_test(reads_what_a_process_publishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
