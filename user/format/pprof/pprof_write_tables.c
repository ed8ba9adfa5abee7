// SPDX-License-Identifier: BSD-2-Clause
#include "format/pprof/pprof_write_tables.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <string.h>

#define PPROF_STRINGS_MAX (16u << 20)
#define PAGE		  4096

/* A function is told apart by name and file, or is a mark. */
struct function_key {
	uint32_t name, file; /* pprof's strings */
};

struct pprof_tables {
	const struct profile *r;
	struct intern *strings;
	struct intern *functions; /* of struct function_key; id is number - 1 */
	struct intern *locations; /* of frames, innermost inline first, or a mark */
	uint32_t *mapping;	  /* by module: number, 0 = none */
	VEC(uint32_t) modules;	  /* by mapping number - 1 */
	uint64_t *start, *limit;  /* by module */
	VEC(uint32_t) frames;	  /* of the location at hand */
	int err;
};

void pprof_tables_free(struct pprof_tables *t)
{
	if (!t)
		return;
	intern_free(t->strings);
	intern_free(t->functions);
	intern_free(t->locations);
	free(t->mapping);
	free(t->start);
	free(t->limit);
	vec_free(&t->modules);
	vec_free(&t->frames);
	free(t);
}

uint64_t pprof_string(struct pprof_tables *t, const char *s)
{
	uint32_t id = 0;
	int err = intern_id(t->strings, s, strlen(s), &id);

	if (err < 0)
		t->err = err;
	return err ? 0 : id;
}

/* The program itself rather than its libraries, as far as names tell. */
static bool is_program(const char *path)
{
	return path[0] == '/' && !strstr(path, ".so");
}

/* pprof shows the first mapping as what the profile is of: the program in which
 * most frames lie. */
static uint32_t find_main(const struct profile *r, uint64_t *weights)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < r->nodes.n; i++) {
		const struct profile_frame *frame = profile_node_frame(r, i);

		if (frame)
			weights[frame->module]++;
	}
	for (uint32_t i = 1; i < r->modules.n; i++)
		if (is_program(profile_string(r, r->modules.items[i].path)) &&
		    weights[i] > (best ? weights[best] : 0))
			best = i;
	return best;
}

static int add_mapping(struct pprof_tables *t, uint32_t module)
{
	int err;

	if (!module || t->mapping[module])
		return 0;
	err = vec_push(&t->modules, module);
	t->mapping[module] = (uint32_t)t->modules.n;
	return err;
}

/* Each module gets a room of addresses of its own, as large as its offsets. */
static void lay_out(struct pprof_tables *t)
{
	const struct profile *r = t->r;
	uint64_t next = 16 * PAGE;

	for (size_t i = 0; i < r->frames.n; i++) {
		const struct profile_frame *frame = &r->frames.items[i];

		if (frame->offset > t->limit[frame->module])
			t->limit[frame->module] = frame->offset;
	}
	for (size_t i = 1; i < r->modules.n; i++) {
		uint64_t size = (t->limit[i] / PAGE + 1) * PAGE;

		if (size >> 47) /* addresses of a JIT's, or damage: no room for that */
			size = PAGE;
		t->start[i] = next;
		t->limit[i] = next + size;
		next += size + PAGE;
	}
}

static int make_mappings(struct pprof_tables *t)
{
	size_t n = t->r->modules.n + 1;
	AUTO_FREE uint64_t *weights = calloc(n, sizeof(*weights));
	int err;

	t->mapping = calloc(n, sizeof(*t->mapping));
	t->start = calloc(n, sizeof(*t->start));
	t->limit = calloc(n, sizeof(*t->limit));
	if (!weights || !t->mapping || !t->start || !t->limit)
		return fail(-ENOMEM, "no memory for %zu modules", n);
	lay_out(t);
	err = add_mapping(t, find_main(t->r, weights));
	for (uint32_t i = 1; !err && i < t->r->modules.n; i++)
		if (weights[i])
			err = add_mapping(t, i);
	return err;
}

int pprof_tables_new(struct pprof_tables **ret, const struct profile *profile)
{
	AUTO(pprof_tables) t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return fail(-ENOMEM, "no memory for a profile");
	t->r = profile;
	err = intern_new(&t->strings, PPROF_STRINGS_MAX);
	if (!err)
		err = intern_new(&t->functions, PPROF_STRINGS_MAX);
	if (!err)
		err = intern_new(&t->locations, PPROF_STRINGS_MAX);
	if (!err)
		pprof_string(t, "");
	if (!err)
		err = make_mappings(t);
	if (err)
		return err;
	*ret = GIVE(t);
	return 0;
}

/* A location's inlines, from the leaf, up to the frame that holds their code. */
static uint32_t read_location(struct pprof_tables *t, uint32_t node)
{
	const struct profile_frame *frame;
	uint32_t code;

	t->frames.n = 0;
	do {
		code = profile_code(t->r, node);
		if (vec_push(&t->frames, code))
			t->err = -ENOMEM;
		frame = profile_node_frame(t->r, node);
		node = profile_parent(t->r, node);
	} while (node && frame && frame->type == FRAME_TYPE_INLINED &&
		 profile_node_frame(t->r, node));
	return node;
}

int pprof_locations(struct pprof_tables *t, uint32_t node, struct str *ret,
		    unsigned int *ret_hops)
{
	int err = 0;

	*ret_hops = 0;
	while (!err && node) {
		uint32_t code = profile_code(t->r, node), id;

		*ret_hops += PROFILE_MARK(code) == VIEW_BOUNDARY &&
			     PROFILE_BOUNDARY_OF(code) != BOUNDARY_FIBER;
		node = read_location(t, node);
		err = intern_id(t->locations, t->frames.items,
				t->frames.n * sizeof(uint32_t), &id);
		if (!err)
			varint_add(ret, id + 1);
	}
	if (err > 0)
		err = fail(-ENOSPC, "too many distinct addresses");
	return err ? err : t->err;
}

static const char *mark_text(uint32_t code)
{
	static const char *const boundaries[] = {
		[BOUNDARY_ASYNC] = PPROF_ASYNC,
		[BOUNDARY_WAITS] = PPROF_WAITS,
		[BOUNDARY_THREAD] = PPROF_THREAD,
		[BOUNDARY_FIBER] = PPROF_FIBER,
	};

	if (PROFILE_MARK(code) == VIEW_BOUNDARY)
		return boundaries[PROFILE_BOUNDARY_OF(code)];
	return PROFILE_MARK(code) == VIEW_GAP ? PROFILE_GAP_NAME : PROFILE_CUT_NAME;
}

static uint64_t function_of(struct pprof_tables *t, uint32_t code)
{
	bool is_frame = PROFILE_IS_FRAME(code);
	struct function_key key = { 0 };
	uint32_t id = 0;

	key.name = (uint32_t)pprof_string(t, is_frame ? profile_code_name(t->r, code)
						      : mark_text(code));
	if (is_frame)
		key.file = (uint32_t)pprof_string(
			t, profile_string(t->r, t->r->frames.items[code].file));
	if (intern_id(t->functions, &key, sizeof(key), &id) < 0)
		t->err = -ENOMEM;
	return id + 1;
}

static void add_line(struct pprof_tables *t, struct str *location, uint32_t code)
{
	AUTO_STR line = { 0 };

	proto_add_uint(&line, LINE_FUNCTION_ID, function_of(t, code));
	if (PROFILE_IS_FRAME(code))
		proto_add_uint(&line, LINE_LINE, t->r->frames.items[code].line);
	proto_add_item(location, LOCATION_LINE, line.s, line.n);
}

/* The async mapping comes after all modules. */
static uint64_t async_mapping(const struct pprof_tables *t)
{
	return t->modules.n + 1;
}

static void add_address(struct pprof_tables *t, struct str *location, uint32_t code)
{
	const struct profile_frame *frame;
	uint64_t address;

	if (!PROFILE_IS_FRAME(code)) {
		if (PROFILE_MARK(code) == VIEW_BOUNDARY)
			proto_add_uint(location, LOCATION_MAPPING_ID, async_mapping(t));
		return;
	}
	frame = &t->r->frames.items[code];
	proto_add_uint(location, LOCATION_MAPPING_ID, t->mapping[frame->module]);
	if (!t->mapping[frame->module] || !frame->offset)
		return;
	address = t->start[frame->module] + frame->offset - frame->returned;
	if (address < t->limit[frame->module])
		proto_add_uint(location, LOCATION_ADDRESS, address);
}

static int write_locations(struct pprof_tables *t, struct str *text, struct gzip *gzip)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(t->locations); i++) {
		AUTO_STR location = { 0 };
		size_t bytes;
		const uint32_t *codes = intern_bytes(t->locations, i, &bytes);
		size_t n = bytes / sizeof(*codes);

		proto_add_uint(&location, LOCATION_ID, i + 1);
		add_address(t, &location, codes[n - 1]);
		for (size_t k = 0; k < n; k++)
			add_line(t, &location, codes[k]);
		proto_add_item(text, PROFILE_LOCATION, location.s, location.n);
		err = gzip_pass(gzip, text);
	}
	return err;
}

static int write_functions(struct pprof_tables *t, struct str *text, struct gzip *gzip)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(t->functions); i++) {
		AUTO_STR function = { 0 };
		size_t bytes;
		const struct function_key *key = intern_bytes(t->functions, i, &bytes);

		proto_add_uint(&function, FUNCTION_ID, i + 1);
		proto_add_uint(&function, FUNCTION_NAME, key->name);
		proto_add_uint(&function, FUNCTION_SYSTEM_NAME, key->name);
		proto_add_uint(&function, FUNCTION_FILENAME, key->file);
		proto_add_item(text, PROFILE_FUNCTION, function.s, function.n);
		err = gzip_pass(gzip, text);
	}
	return err;
}

static void write_mapping(struct pprof_tables *t, struct str *text, uint32_t number)
{
	AUTO_STR mapping = { 0 };
	uint32_t module = number <= t->modules.n ? t->modules.items[number - 1] : 0;
	const struct profile_module *m = &t->r->modules.items[module];

	proto_add_uint(&mapping, MAPPING_ID, number);
	proto_add_uint(&mapping, MAPPING_MEMORY_START, t->start[module]);
	proto_add_uint(&mapping, MAPPING_MEMORY_LIMIT, t->limit[module]);
	proto_add_uint(&mapping, MAPPING_FILENAME,
		       pprof_string(t, module ? profile_string(t->r, m->path)
					      : PPROF_ASYNC_MAPPING));
	proto_add_uint(&mapping, MAPPING_BUILD_ID,
		       pprof_string(t, module ? profile_string(t->r, m->build_id) : ""));
	proto_add_uint(&mapping, MAPPING_HAS_FUNCTIONS, 1);
	proto_add_item(text, PROFILE_MAPPING, mapping.s, mapping.n);
}

static int write_strings(struct pprof_tables *t, struct str *text, struct gzip *gzip)
{
	int err = t->err;

	for (uint32_t i = 0; !err && i < intern_count(t->strings); i++) {
		size_t n;
		const char *s = intern_bytes(t->strings, i, &n);

		proto_add_item(text, PROFILE_STRING_TABLE, s, n);
		err = gzip_pass(gzip, text);
	}
	return err;
}

int pprof_tables_write(struct pprof_tables *t, struct str *text, struct gzip *gzip)
{
	int err;

	for (uint32_t number = 1; number <= async_mapping(t); number++)
		write_mapping(t, text, number);
	err = write_locations(t, text, gzip);
	if (!err)
		err = write_functions(t, text, gzip);
	return err ? err : write_strings(t, text, gzip);
}
