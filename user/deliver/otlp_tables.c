// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/otlp_tables.h"

#include "base/error.h"
#include "base/intern.h"
#include "base/vec.h"
#include "deliver/otlp_fields.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <string.h>

#define OTLP_ITEMS_MAX (16u << 20)

struct otlp_tables {
	struct proto pprof;
	VEC(struct proto_field) strings;
	VEC(uint64_t) filenames;       /* of mappings, by id - 1 */
	uint64_t locations, functions; /* how many */
	struct intern *more_strings;   /* numbered after pprof's */
	struct intern *attributes, *stacks, *links;
	int err;
};

static void no_pprof(struct otlp_tables *t)
{
	t->err = t->err ? t->err : -EBADMSG;
}

/* The number of a field that has one; 0 if it is not there. */
static uint64_t number_in(const struct proto_field *message, unsigned int number)
{
	struct proto proto = proto_of(message->bytes, message->n);
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.number == number)
			return field.wire == PROTO_VARINT ? field.value : 0;
	return 0;
}

/* Ids from 1 without holes, so that they are places in a table. */
static void expect(struct otlp_tables *t, const struct proto_field *message,
		   unsigned int field, uint64_t id)
{
	if (number_in(message, field) != id)
		no_pprof(t);
}

static void look_at(struct otlp_tables *t, const struct proto_field *field)
{
	switch (field->number) {
	case PROFILE_STRING_TABLE:
		t->err |= vec_push(&t->strings, *field);
		break;
	case PROFILE_MAPPING:
		t->err |= vec_push(&t->filenames, number_in(field, MAPPING_FILENAME));
		expect(t, field, MAPPING_ID, t->filenames.n);
		break;
	case PROFILE_LOCATION:
		expect(t, field, LOCATION_ID, ++t->locations);
		break;
	case PROFILE_FUNCTION:
		expect(t, field, FUNCTION_ID, ++t->functions);
		break;
	}
}

/* A table with its number 0. */
static int new_table(struct intern **ret)
{
	uint32_t id;
	int err = intern_new(ret, OTLP_ITEMS_MAX);

	return err ? err : intern_id(*ret, "", 0, &id);
}

int otlp_tables_new(struct otlp_tables **ret, const void *pprof, size_t n)
{
	AUTO(otlp_tables) t = calloc(1, sizeof(*t));
	struct proto proto = proto_of(pprof, n);
	struct proto_field field;
	int err;

	if (!t)
		return fail(-ENOMEM, "no memory for a profile");
	t->pprof = proto;
	err = intern_new(&t->more_strings, OTLP_ITEMS_MAX);
	if (!err)
		err = new_table(&t->attributes);
	if (!err)
		err = new_table(&t->stacks);
	if (!err)
		err = new_table(&t->links);
	if (err)
		return err;
	while (!t->err && proto_next(&proto, &field))
		look_at(t, &field);
	if (t->err || proto.bad || !t->strings.n || t->strings.items[0].n)
		return fail(-EBADMSG, "it is no profile of weft's");
	*ret = GIVE(t);
	return 0;
}

void otlp_tables_free(struct otlp_tables *t)
{
	if (!t)
		return;
	vec_free(&t->strings);
	vec_free(&t->filenames);
	intern_free(t->more_strings);
	intern_free(t->attributes);
	intern_free(t->stacks);
	intern_free(t->links);
	free(t);
}

struct proto_field otlp_text(const struct otlp_tables *t, uint64_t number)
{
	return number < t->strings.n ? t->strings.items[number]
				     : (struct proto_field){ .bytes = (const void *)"" };
}

static uint64_t number_of(struct otlp_tables *t, struct intern *table, const void *bytes,
			  size_t n)
{
	uint32_t id = 0;

	if (intern_id(table, n ? bytes : "", n, &id))
		t->err = -ENOMEM;
	return id;
}

uint64_t otlp_string(struct otlp_tables *t, const void *s, size_t n)
{
	return t->strings.n + number_of(t, t->more_strings, s, n);
}

uint64_t otlp_attribute(struct otlp_tables *t, const char *key, const struct str *value)
{
	AUTO_STR text = { 0 };

	proto_add_uint(&text, OTLP_KEY, otlp_string(t, key, strlen(key)));
	proto_add_item(&text, OTLP_VALUE, value->s, value->n);
	if (str_error(&text) || str_error(value))
		t->err = -ENOMEM;
	return number_of(t, t->attributes, text.s, text.n);
}

uint64_t otlp_stack(struct otlp_tables *t, const struct proto_field *sample)
{
	struct proto proto = proto_of(sample->bytes, sample->n);
	struct proto_field field;
	AUTO_STR numbers = { 0 };
	AUTO_STR stack = { 0 };
	uint64_t id;

	while (proto_next(&proto, &field)) {
		if (field.number != SAMPLE_LOCATION_ID)
			continue;
		for (size_t at = 0; proto_number(&field, &at, &id);) {
			if (!id || id > t->locations)
				no_pprof(t);
			varint_add(&numbers, id);
		}
	}
	proto_add_bytes(&stack, OTLP_LOCATIONS, numbers.s, numbers.n);
	if (str_error(&numbers) || str_error(&stack))
		t->err = -ENOMEM;
	return number_of(t, t->stacks, stack.s, stack.n);
}

uint64_t otlp_link(struct otlp_tables *t, const struct trace_ids *ids)
{
	AUTO_STR link = { 0 };

	proto_add_item(&link, OTLP_TRACE_ID, ids->trace, sizeof(ids->trace));
	proto_add_item(&link, OTLP_SPAN_ID, ids->span, sizeof(ids->span));
	if (str_error(&link))
		t->err = -ENOMEM;
	return number_of(t, t->links, link.s, link.n);
}

void otlp_any_text(struct str *out, const void *s, size_t n)
{
	proto_add_item(out, ANY_STRING, s, n);
}

void otlp_any_number(struct str *out, uint64_t number)
{
	/* one of a choice: also 0 is written */
	varint_add(out, ANY_INT << 3 | PROTO_VARINT);
	varint_add(out, number);
}

/* A number that a table of n has, behind number 0. */
static uint64_t within(struct otlp_tables *t, uint64_t number, uint64_t n)
{
	if (number > n)
		no_pprof(t);
	return number;
}

/* A string of pprof, whose first is number 0. */
static uint64_t string(struct otlp_tables *t, const struct proto_field *field)
{
	return within(t, field->value, t->strings.n - 1);
}

static void add_attribute(struct str *out, unsigned int field, uint64_t attribute)
{
	AUTO_STR numbers = { 0 };

	varint_add(&numbers, attribute);
	proto_add_bytes(out, field, numbers.s, numbers.n);
	out->failed |= numbers.failed;
}

static void add_build_id(struct otlp_tables *t, struct str *out,
			 const struct proto_field *field)
{
	struct proto_field text = otlp_text(t, string(t, field));
	AUTO_STR value = { 0 };

	if (!text.n)
		return;
	otlp_any_text(&value, text.bytes, text.n);
	add_attribute(out, OTLP_MAPPING_ATTRIBUTES,
		      otlp_attribute(t, "process.executable.build_id.gnu", &value));
}

static void make_mapping(struct otlp_tables *t, struct str *out,
			 const struct proto_field *field)
{
	switch (field->number) {
	case MAPPING_MEMORY_START:
		proto_add_uint(out, OTLP_MEMORY_START, field->value);
		break;
	case MAPPING_MEMORY_LIMIT:
		proto_add_uint(out, OTLP_MEMORY_LIMIT, field->value);
		break;
	case MAPPING_FILE_OFFSET:
		proto_add_uint(out, OTLP_FILE_OFFSET, field->value);
		break;
	case MAPPING_FILENAME:
		proto_add_uint(out, OTLP_FILENAME, string(t, field));
		break;
	case MAPPING_BUILD_ID:
		add_build_id(t, out, field);
		break;
	}
}

static void add_line(struct otlp_tables *t, struct str *out,
		     const struct proto_field *line)
{
	AUTO_STR text = { 0 };

	proto_add_uint(&text, OTLP_FUNCTION,
		       within(t, number_in(line, LINE_FUNCTION_ID), t->functions));
	proto_add_uint(&text, OTLP_LINE, number_in(line, LINE_LINE));
	proto_add_item(out, OTLP_LINES, text.s, text.n);
	out->failed |= text.failed;
}

static bool is_text(const struct proto_field *text, const char *s)
{
	return text->n == strlen(s) && !memcmp(text->bytes, s, text->n);
}

/* What code it is: by its mapping, as far as that tells. */
static void add_frame_type(struct otlp_tables *t, struct str *out, uint64_t mapping)
{
	struct proto_field file;
	const char *type = NULL;
	AUTO_STR value = { 0 };

	if (!mapping || mapping > t->filenames.n)
		return;
	file = otlp_text(t, t->filenames.items[mapping - 1]);
	if (is_text(&file, "[kernel]"))
		type = "kernel";
	else if (is_text(&file, PPROF_ASYNC_MAPPING))
		type = "async";
	else if (file.n && file.bytes[0] == '/')
		type = "native";
	if (!type)
		return;
	otlp_any_text(&value, type, strlen(type));
	add_attribute(out, OTLP_LOCATION_ATTRIBUTES,
		      otlp_attribute(t, "profile.frame.type", &value));
}

static void make_location(struct otlp_tables *t, struct str *out,
			  const struct proto_field *field)
{
	switch (field->number) {
	case LOCATION_MAPPING_ID:
		proto_add_uint(out, OTLP_MAPPING,
			       within(t, field->value, t->filenames.n));
		add_frame_type(t, out, field->value);
		break;
	case LOCATION_ADDRESS:
		proto_add_uint(out, OTLP_ADDRESS, field->value);
		break;
	case LOCATION_LINE:
		add_line(t, out, field);
		break;
	}
}

static void make_function(struct otlp_tables *t, struct str *out,
			  const struct proto_field *field)
{
	switch (field->number) {
	case FUNCTION_NAME:
		proto_add_uint(out, OTLP_NAME, string(t, field));
		break;
	case FUNCTION_SYSTEM_NAME:
		proto_add_uint(out, OTLP_SYSTEM_NAME, string(t, field));
		break;
	case FUNCTION_FILENAME:
		proto_add_uint(out, OTLP_SOURCE, string(t, field));
		break;
	case FUNCTION_START_LINE:
		proto_add_uint(out, OTLP_START_LINE, field->value);
		break;
	}
}

struct kind {
	unsigned int from, to; /* the fields that hold it */
	void (*make)(struct otlp_tables *t, struct str *out,
		     const struct proto_field *field);
};

static void add_all(struct otlp_tables *t, const struct kind *kind, struct str *out)
{
	struct proto proto = t->pprof;
	struct proto_field field, inner;

	proto_add_item(out, kind->to, "", 0);
	while (proto_next(&proto, &field)) {
		struct proto message = proto_of(field.bytes, field.n);
		AUTO_STR text = { 0 };

		if (field.number != kind->from)
			continue;
		while (proto_next(&message, &inner))
			kind->make(t, &text, &inner);
		if (message.bad)
			no_pprof(t);
		proto_add_item(out, kind->to, text.s, text.n);
		out->failed |= text.failed;
	}
}

static void add_table(const struct intern *table, unsigned int field, struct str *out)
{
	for (uint32_t i = 0; i < intern_count(table); i++) {
		size_t n;
		const void *bytes = intern_bytes(table, i, &n);

		proto_add_item(out, field, bytes, n);
	}
}

int otlp_tables_write(struct otlp_tables *t, struct str *out)
{
	static const struct kind kinds[] = {
		{ PROFILE_MAPPING, DICTIONARY_MAPPING, make_mapping },
		{ PROFILE_LOCATION, DICTIONARY_LOCATION, make_location },
		{ PROFILE_FUNCTION, DICTIONARY_FUNCTION, make_function },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		add_all(t, &kinds[i], out);
	/* Parca rejects ids that are there and all zeros, so the first one is empty */
	add_table(t->links, DICTIONARY_LINK, out);
	for (size_t i = 0; i < t->strings.n; i++)
		proto_add_item(out, DICTIONARY_STRING, t->strings.items[i].bytes,
			       t->strings.items[i].n);
	add_table(t->more_strings, DICTIONARY_STRING, out);
	add_table(t->attributes, DICTIONARY_ATTRIBUTE, out);
	add_table(t->stacks, DICTIONARY_STACK, out);
	if (t->err == -EBADMSG)
		return fail(-EBADMSG, "it is no profile of weft's");
	return t->err ? t->err : str_error(out);
}
