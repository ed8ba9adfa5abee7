// SPDX-License-Identifier: BSD-2-Clause
#include "format/pprof/pprof_read_tables.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/proto.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <string.h>

struct bytes {
	const char *s;
	size_t n;
};

struct read_text {
	struct bytes bytes;
	uint32_t id; /* of the profile's string, once it was asked for; or 0 */
};

struct read_function {
	uint64_t name, file;
};

struct read_mapping {
	uint64_t start, offset;
	uint32_t module;
	enum frame_type type;
};

struct pprof_in {
	struct profile *r;
	size_t items_max;
	VEC(struct read_text) strings;
	VEC(struct read_function) functions;
	VEC(struct read_mapping) mappings;
	VEC(struct bytes) locations; /* as they are in the profile */
	/* ids are any numbers: to an index + 1 */
	struct hmap function_ids, mapping_ids, location_ids;
};

void pprof_in_free(struct pprof_in *t)
{
	if (!t)
		return;
	vec_free(&t->strings);
	vec_free(&t->functions);
	vec_free(&t->mappings);
	vec_free(&t->locations);
	hmap_free(&t->function_ids);
	hmap_free(&t->mapping_ids);
	hmap_free(&t->location_ids);
	free(t);
}

const char *pprof_in_string(const struct pprof_in *t, uint64_t id, size_t *ret_n)
{
	*ret_n = 0;
	if (id >= t->strings.n)
		return "";
	*ret_n = t->strings.items[id].bytes.n;
	return t->strings.items[id].bytes.s;
}

/* The profile's string; each is looked at once, however long and often named. */
static int take_string(struct pprof_in *t, uint64_t id, uint32_t *ret)
{
	struct read_text *text = id < t->strings.n ? &t->strings.items[id] : NULL;
	int err = 0;

	if (text && !text->id)
		err = profile_add_string(t->r, text->bytes.s, text->bytes.n, &text->id);
	*ret = text ? text->id : 0;
	return err;
}

static int note_id(struct hmap *ids, uint64_t id, size_t index)
{
	return hmap_put(ids, id, (void *)(uintptr_t)(index + 1));
}

static size_t index_of(const struct hmap *ids, uint64_t id)
{
	return (size_t)(uintptr_t)hmap_get(ids, id) - 1; /* SIZE_MAX: none */
}

static int add_function(struct pprof_in *t, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct read_function function = { 0 };
	struct proto_field f;
	uint64_t id = 0;
	int err;

	while (proto_next(&proto, &f)) {
		if (f.number == FUNCTION_ID)
			id = f.value;
		else if (f.number == FUNCTION_NAME)
			function.name = f.value;
		else if (f.number == FUNCTION_FILENAME)
			function.file = f.value;
	}
	err = note_id(&t->function_ids, id, t->functions.n);
	return err ? err : vec_push(&t->functions, function);
}

static enum frame_type frame_type_of(const char *path, size_t n)
{
	return n >= 7 && !memcmp(path, "[kernel", 7)	    ? FRAME_TYPE_KERNEL
	       : n >= 10 && !memcmp(path, "/tmp/perf-", 10) ? FRAME_TYPE_JIT
	       : n == 5 && !memcmp(path, "[jit]", 5)	    ? FRAME_TYPE_JIT
							    : FRAME_TYPE_NATIVE;
}

static int add_mapping(struct pprof_in *t, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct profile_module module = { 0 };
	struct read_mapping mapping = { 0 };
	struct proto_field f;
	uint64_t id = 0, path = 0, build_id = 0;
	const char *s;
	size_t n;
	int err;

	while (proto_next(&proto, &f)) {
		if (f.number == MAPPING_ID)
			id = f.value;
		else if (f.number == MAPPING_MEMORY_START)
			mapping.start = f.value;
		else if (f.number == MAPPING_FILE_OFFSET)
			mapping.offset = f.value;
		else if (f.number == MAPPING_FILENAME)
			path = f.value;
		else if (f.number == MAPPING_BUILD_ID)
			build_id = f.value;
	}
	s = pprof_in_string(t, path, &n);
	err = take_string(t, build_id, &module.build_id);
	if (!err)
		err = take_string(t, path, &module.path);
	if (!err)
		err = profile_add_module(t->r, &module, &mapping.module);
	mapping.type = frame_type_of(s, n);
	if (!err)
		err = note_id(&t->mapping_ids, id, t->mappings.n);
	return err ? err : vec_push(&t->mappings, mapping);
}

static int add_location(struct pprof_in *t, const struct proto_field *field)
{
	struct bytes bytes = { (const char *)field->bytes, field->n };
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field f;
	uint64_t id = 0;
	int err;

	while (proto_next(&proto, &f))
		if (f.number == LOCATION_ID)
			id = f.value;
	err = note_id(&t->location_ids, id, t->locations.n);
	return err ? err : vec_push(&t->locations, bytes);
}

static int add_string(struct pprof_in *t, const struct proto_field *field)
{
	return vec_push(
		&t->strings,
		((struct read_text){ { (const char *)field->bytes, field->n }, 0 }));
}

static int too_many(const struct pprof_in *t)
{
	return fail(-EFBIG,
		    "a profile of its size can't have more than %zu strings, functions, "
		    "mappings or locations",
		    t->items_max);
}

static int each(struct pprof_in *t, const struct str *bytes, unsigned int number,
		int (*add)(struct pprof_in *t, const struct proto_field *field))
{
	struct proto proto = proto_of(bytes->s, bytes->n);
	struct proto_field field;
	size_t n = 0;
	int err = 0;

	while (!err && proto_next(&proto, &field)) {
		if (field.number != number || field.wire != PROTO_BYTES)
			continue;
		err = n++ < t->items_max ? add(t, &field) : too_many(t);
	}
	return err;
}

int pprof_in_new(struct pprof_in **ret, struct profile *profile, const struct str *bytes,
		 size_t items_max)
{
	AUTO(pprof_in) t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return fail(-ENOMEM, "no memory for a profile");
	t->r = profile;
	t->items_max = items_max;
	err = each(t, bytes, PROFILE_STRING_TABLE, add_string);
	if (!err)
		err = each(t, bytes, PROFILE_FUNCTION, add_function);
	if (!err)
		err = each(t, bytes, PROFILE_MAPPING, add_mapping);
	if (!err)
		err = each(t, bytes, PROFILE_LOCATION, add_location);
	if (err)
		return err;
	*ret = GIVE(t);
	return 0;
}

/* The code of a mark that we have written as a function; 0: it is none. */
static uint32_t mark_of(const char *name, size_t n)
{
	static const struct {
		const char *name;
		uint32_t code;
	} marks[] = {
		{ PPROF_ASYNC, VIEW_BOUNDARY | BOUNDARY_ASYNC },
		{ PPROF_WAITS, VIEW_BOUNDARY | BOUNDARY_WAITS },
		{ PPROF_THREAD, VIEW_BOUNDARY | BOUNDARY_THREAD },
		{ PPROF_FIBER, VIEW_BOUNDARY | BOUNDARY_FIBER },
		{ PROFILE_GAP_NAME, VIEW_GAP },
		{ PROFILE_CUT_NAME, VIEW_CUT },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strlen(marks[i].name) == n && !memcmp(marks[i].name, name, n))
			return marks[i].code;
	return 0;
}

struct location {
	struct profile_frame frame; /* what its lines have in common */
	struct proto_field line;    /* the one before */
	bool any;
};

static int add_line(struct pprof_in *t, struct stack_builder *b,
		    const struct location *location, bool is_last)
{
	struct proto proto = proto_of(location->line.bytes, location->line.n);
	struct profile_frame frame = location->frame;
	struct proto_field f;
	size_t function = SIZE_MAX, n;
	const char *name;
	int err;

	while (location->any && proto_next(&proto, &f)) {
		if (f.number == LINE_FUNCTION_ID)
			function = index_of(&t->function_ids, f.value);
		else if (f.number == LINE_LINE && f.value <= UINT32_MAX)
			frame.line = (uint32_t)f.value;
	}
	if (!is_last)
		frame.type = FRAME_TYPE_INLINED;
	if (function >= t->functions.n)
		return stack_add_frame(b, "", 0, &frame);
	name = pprof_in_string(t, t->functions.items[function].name, &n);
	if (mark_of(name, n))
		return stack_add_mark(b, mark_of(name, n));
	err = take_string(t, t->functions.items[function].file, &frame.file);
	if (!err)
		err = take_string(t, t->functions.items[function].name, &frame.name);
	return err ? err : stack_add_named(b, &frame);
}

int pprof_in_location(struct pprof_in *t, uint64_t id, struct stack_builder *b)
{
	size_t index = index_of(&t->location_ids, id);
	struct location location = { .frame.type = FRAME_TYPE_NATIVE };
	struct read_mapping none = { .type = FRAME_TYPE_NATIVE }, *mapping = &none;
	uint64_t address = 0;
	struct proto proto;
	struct proto_field f;
	int err = 0;

	if (index >= t->locations.n)
		return 0;
	proto = proto_of(t->locations.items[index].s, t->locations.items[index].n);
	while (proto_next(&proto, &f)) {
		if (f.number == LOCATION_ADDRESS)
			address = f.value;
		else if (f.number == LOCATION_MAPPING_ID &&
			 index_of(&t->mapping_ids, f.value) < t->mappings.n)
			mapping = &t->mappings.items[index_of(&t->mapping_ids, f.value)];
	}
	location.frame.module = mapping->module;
	location.frame.type = mapping->type;
	if (mapping->type != FRAME_TYPE_KERNEL)
		location.frame.offset = address - mapping->start + mapping->offset;
	proto.at = 0;
	proto.bad = false;
	while (!err && proto_next(&proto, &f)) {
		if (f.number != LOCATION_LINE || f.wire != PROTO_BYTES)
			continue;
		if (location.any)
			err = add_line(t, b, &location, false);
		location.line = f;
		location.any = true;
	}
	return err ? err : add_line(t, b, &location, true);
}
