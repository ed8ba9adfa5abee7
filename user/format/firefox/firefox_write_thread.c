// SPDX-License-Identifier: BSD-2-Clause
#include "format/firefox/firefox_parts.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define THREAD_NODES_MAX (32u << 20)

struct thread_writer {
	struct firefox *f;
	struct json *json; /* its */
	struct intern *strings;
	struct pairs local;  /* a = function of all, b = 0; by function of this thread */
	struct pairs stacks; /* a = prefix + 1, b = function of this thread */
	struct pairs nodes;  /* a = node; b = 0, to stack + 1 in by_node */
	VEC(uint32_t) by_node;
	VEC(uint32_t) path;
	VEC(uint32_t) resources; /* module by resource */
	struct pairs modules;
};

static uint32_t category_of(const struct profile *r, uint32_t code)
{
	static const enum firefox_category categories[] = {
		[FRAME_TYPE_UNKNOWN] = CATEGORY_OTHER,
		[FRAME_TYPE_NATIVE] = CATEGORY_PROGRAM,
		[FRAME_TYPE_KERNEL] = CATEGORY_KERNEL,
		[FRAME_TYPE_JIT] = CATEGORY_JIT,
		[FRAME_TYPE_INLINED] = CATEGORY_INLINED,
		[FRAME_TYPE_LABEL] = CATEGORY_ASYNC,
	};

	if (PROFILE_IS_FRAME(code))
		return categories[r->frames.items[code].type];
	return PROFILE_MARK(code) == VIEW_BOUNDARY ? CATEGORY_ASYNC : CATEGORY_OTHER;
}

/* The number of a node's function; -ENOMEM. */
static int firefox_function(struct firefox *f, uint32_t code, uint32_t *ret)
{
	bool is_frame = PROFILE_IS_FRAME(code);
	struct firefox_function function = { .code = code };
	struct pair key = { 0, code };
	int err;

	if (is_frame && f->by_frame[code]) {
		*ret = f->by_frame[code] - 1;
		return 0;
	}
	if (is_frame) {
		function.name = f->r->frames.items[code].name;
		function.module = f->r->frames.items[code].module;
		key = (struct pair){ function.name, function.module };
	}
	function.category = category_of(f->r, code);
	err = pairs_id(&f->keys, key, FRAMES_DISTINCT_MAX + 16, ret);
	if (!err && *ret == f->functions.n)
		err = vec_push(&f->functions, function);
	if (!err && is_frame)
		f->by_frame[code] = *ret + 1;
	return err;
}

static uint32_t string_of(struct thread_writer *t, const char *s)
{
	uint32_t id = 0;

	/* full, or no memory: the first; what fails later says so */
	return intern_id(t->strings, s, strlen(s), &id) ? 0 : id;
}

/* The nodes from this one up to one whose stack is known. */
static int find_known(struct thread_writer *t, uint32_t node, uint32_t *ret_prefix)
{
	int err = 0;

	t->path.n = 0;
	*ret_prefix = 0;
	for (; !err && node; node = profile_parent(t->f->r, node)) {
		uint32_t id;

		err = pairs_id(&t->nodes, (struct pair){ node, 0 }, THREAD_NODES_MAX,
			       &id);
		if (!err && id < t->by_node.n) {
			*ret_prefix = t->by_node.items[id];
			return 0;
		}
		if (!err)
			err = vec_push(&t->by_node, 0);
		if (!err)
			err = vec_push(&t->path, id);
	}
	return err;
}

/* A stack's number + 1; 0: the empty one. */
static int stack_of(struct thread_writer *t, uint32_t node, uint32_t *ret)
{
	int err = find_known(t, node, ret);

	while (!err && t->path.n) {
		uint32_t id = t->path.items[--t->path.n], function, local;
		uint32_t code = profile_code(t->f->r, t->nodes.items[id].a);

		err = firefox_function(t->f, code, &function);
		if (!err)
			err = pairs_id(&t->local, (struct pair){ function, 0 },
				       THREAD_NODES_MAX, &local);
		if (!err)
			err = pairs_id(&t->stacks, (struct pair){ *ret, local },
				       THREAD_NODES_MAX, ret);
		++*ret;
		t->by_node.items[id] = *ret;
	}
	return err > 0 ? fail(-ENOSPC, "too many distinct stacks") : err;
}

static void begin(struct thread_writer *t, const char *table, size_t n)
{
	json_open(t->json, table, '{');
	json_uint(t->json, "length", n);
}

static void end(struct thread_writer *t)
{
	json_close(t->json, '}');
	json_line(t->json);
}

static void column(struct thread_writer *t, const char *name)
{
	json_open(t->json, name, '[');
}

static void end_column(struct thread_writer *t)
{
	json_close(t->json, ']');
}

/* n times the same. */
static int constant(struct thread_writer *t, const char *name, const char *value,
		    size_t n)
{
	int err = 0;

	column(t, name);
	for (size_t i = 0; !err && i < n; i++) {
		json_next(t->json);
		str_add(t->json->out, value);
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	return err;
}

struct same {
	const char *name, *value;
};

/* Columns of n, each n times the same; the last has no name. */
static int constants(struct thread_writer *t, const struct same *same, size_t n)
{
	int err = 0;

	for (; !err && same->name; same++)
		err = constant(t, same->name, same->value, n);
	return err;
}

/* A number less one; null for 0. */
static void add_optional(struct thread_writer *t, uint32_t number)
{
	if (number)
		json_uint(t->json, NULL, number - 1);
	else
		json_addf(t->json, NULL, "null");
}

static int add_samples(struct thread_writer *t, const struct firefox_sample *samples,
		       size_t n)
{
	int err = 0;

	begin(t, "samples", n);
	json_text(t->json, "weightType", "samples");
	column(t, "stack");
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t stack;

		err = stack_of(t, samples[i].node, &stack);
		add_optional(t, stack);
		if (!err)
			err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	column(t, "weight");
	for (size_t i = 0; !err && i < n; i++) {
		json_uint(t->json, NULL, samples[i].count);
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	return err;
}

/* Within their second, one after the other: more is not known. */
static int add_times(struct thread_writer *t, const struct firefox_sample *samples,
		     size_t n)
{
	size_t start = 0, until = 0;
	int err = 0;

	column(t, "time");
	for (size_t i = 0; !err && i < n; i++) {
		if (i == until) {
			start = i;
			while (until < n &&
			       samples[until].second == samples[start].second)
				until++;
		}
		json_addf(t->json, NULL, "%.3f",
			  samples[i].second * 1e3 +
				  1e3 * (double)(i - start) / (double)(until - start));
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	end(t);
	return err;
}

static int add_stacks(struct thread_writer *t)
{
	size_t n = t->stacks.n;
	int err = 0;

	begin(t, "stackTable", n);
	column(t, "frame");
	for (size_t i = 0; !err && i < n; i++) {
		json_uint(t->json, NULL, t->stacks.items[i].b);
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	column(t, "prefix");
	for (size_t i = 0; !err && i < n; i++) {
		add_optional(t, t->stacks.items[i].a);
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	column(t, "category");
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t function = t->local.items[t->stacks.items[i].b].a;

		json_uint(t->json, NULL, t->f->functions.items[function].category);
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	if (!err)
		err = constant(t, "subcategory", "0", n);
	end(t);
	return err;
}

static int add_frames(struct thread_writer *t)
{
	static const struct same same[] = {
		{ "address", "-1" },
		{ "inlineDepth", "0" },
		{ "subcategory", "0" },
		{ "nativeSymbol", "null" },
		{ "innerWindowID", "0" },
		{ "implementation", "null" },
		{ "line", "null" },
		{ "column", "null" },
		{ 0 },
	};
	size_t n = t->local.n;
	int err = 0;

	begin(t, "frameTable", n);
	column(t, "func");
	for (size_t i = 0; i < n; i++)
		json_uint(t->json, NULL, i);
	end_column(t);
	column(t, "category");
	for (size_t i = 0; i < n; i++)
		json_uint(t->json, NULL,
			  t->f->functions.items[t->local.items[i].a].category);
	end_column(t);
	err = constants(t, same, n);
	end(t);
	return err;
}

static int resource_of(struct thread_writer *t, uint32_t module, int64_t *ret)
{
	uint32_t id;
	int err;

	*ret = -1;
	if (!module)
		return 0;
	err = pairs_id(&t->modules, (struct pair){ module, 0 }, MODULES_MAX, &id);
	if (!err && id == t->resources.n)
		err = vec_push(&t->resources, module);
	*ret = id;
	return err;
}

static int add_functions(struct thread_writer *t)
{
	static const struct same same[] = {
		{ "isJS", "false" },	    { "relevantForJS", "false" },
		{ "fileName", "null" },	    { "lineNumber", "null" },
		{ "columnNumber", "null" }, { 0 },
	};
	size_t n = t->local.n;
	int err = 0;

	begin(t, "funcTable", n);
	column(t, "name");
	for (size_t i = 0; i < n; i++) {
		uint32_t code = t->f->functions.items[t->local.items[i].a].code;

		json_uint(t->json, NULL, string_of(t, profile_code_name(t->f->r, code)));
	}
	end_column(t);
	column(t, "resource");
	for (size_t i = 0; !err && i < n; i++) {
		int64_t resource;

		err = resource_of(t, t->f->functions.items[t->local.items[i].a].module,
				  &resource);
		json_addf(t->json, NULL, "%" PRId64, resource);
	}
	end_column(t);
	if (!err)
		err = constants(t, same, n);
	end(t);
	return err;
}

static void empty_table(struct thread_writer *t, const char *name,
			const char *const *columns)
{
	begin(t, name, 0);
	for (; *columns; columns++) {
		column(t, *columns);
		end_column(t);
	}
	end(t);
}

static int add_resources(struct thread_writer *t)
{
	static const char *const symbols[] = { "libIndex", "address", "name",
					       "functionSize", NULL };
	static const char *const markers[] = { "category", "data",	"endTime", "name",
					       "phase",	   "startTime", NULL };
	static const struct same same[] = {
		{ "lib", "null" },
		{ "host", "null" },
		{ "type", "1" },
		{ 0 },
	};
	size_t n = t->resources.n;
	int err;

	begin(t, "resourceTable", n);
	column(t, "name");
	for (size_t i = 0; i < n; i++)
		json_uint(t->json, NULL,
			  string_of(t,
				    profile_module_name(t->f->r, t->resources.items[i])));
	end_column(t);
	err = constants(t, same, n);
	end(t);
	empty_table(t, "nativeSymbols", symbols);
	empty_table(t, "markers", markers);
	column(t, "stringArray");
	for (uint32_t i = 0; !err && i < intern_count(t->strings); i++) {
		json_text(t->json, NULL, intern_string(t->strings, i));
		err = output_buffer_drain(&t->f->buffer);
	}
	end_column(t);
	json_close(t->json, '}');
	return err;
}

static void add_names(struct thread_writer *t, uint32_t thread)
{
	const struct profile *r = t->f->r;
	const struct profile_thread *th = &r->threads.items[thread];
	const struct profile_process *process = &r->processes.items[th->process];
	const char *name = profile_string(r, th->name);
	const struct timeline *timeline = &r->timeline;
	double last = timeline->is_dated ? timeline->last - timeline->first + 1.0 : 1.0;
	struct json *json = t->json;

	json_line(json);
	json_open(json, NULL, '{');
	json_text(json, "name", thread ? *name ? name : "[no name]" : "other threads");
	json_text(json, "processName", profile_string(r, process->name));
	json_addf(json, "pid", "\"%u\"", process->pid);
	json_uint(json, "tid", th->tid);
	json_bool(json, "isMainThread", thread && th->tid == process->pid);
	json_text(json, "processType", "default");
	json_uint(json, "processStartupTime", 0);
	json_addf(json, "processShutdownTime", "%.0f", last * 1e3);
	json_uint(json, "registerTime", 0);
	json_addf(json, "unregisterTime", "null");
	column(t, "pausedRanges");
	end_column(t);
	json_line(json);
}

static int add_tables(struct thread_writer *t, const struct firefox_sample *samples,
		      size_t n)
{
	int err = add_samples(t, samples, n);

	if (!err)
		err = add_times(t, samples, n);
	if (!err)
		err = add_stacks(t);
	if (!err)
		err = add_frames(t);
	if (!err)
		err = add_functions(t);
	return err ? err : add_resources(t);
}

int firefox_add_thread(struct firefox *f, uint32_t thread,
		       const struct firefox_sample *samples, size_t n)
{
	struct thread_writer t = { .f = f, .json = &f->json };
	int err = intern_new(&t.strings, FRAMES_DISTINCT_MAX + 16);

	if (!err) {
		add_names(&t, thread);
		err = add_tables(&t, samples, n);
	}
	intern_free(t.strings);
	pairs_free(&t.local);
	pairs_free(&t.stacks);
	pairs_free(&t.nodes);
	pairs_free(&t.modules);
	vec_free(&t.by_node);
	vec_free(&t.path);
	vec_free(&t.resources);
	return err;
}
