// SPDX-License-Identifier: BSD-2-Clause
#include "format/firefox/firefox_parts.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define THREAD_NODES_MAX (32u << 20)

struct thread_writer {
	struct firefox *f;
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

static void column(struct thread_writer *t, const char *name)
{
	str_addf(&t->f->buffer.text, ",\"%s\":[", name);
}

/* n times the same. */
static int constant(struct thread_writer *t, const char *name, const char *value,
		    size_t n)
{
	int err = 0;

	column(t, name);
	for (size_t i = 0; !err && i < n; i++) {
		str_addf(&t->f->buffer.text, "%s%s", i ? "," : "", value);
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(&t->f->buffer.text, ']');
	return err;
}

static int add_samples(struct thread_writer *t, const struct firefox_sample *samples,
		       size_t n)
{
	struct str *out = &t->f->buffer.text;
	int err = 0;

	str_addf(out, "\"samples\":{\"length\":%zu,\"weightType\":\"samples\"", n);
	column(t, "stack");
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t stack;

		err = stack_of(t, samples[i].node, &stack);
		str_add(out, i ? "," : "");
		if (stack)
			str_addf(out, "%u", stack - 1);
		else
			str_add(out, "null");
		if (!err)
			err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(out, ']');
	column(t, "weight");
	for (size_t i = 0; !err && i < n; i++) {
		str_addf(out, "%s%u", i ? "," : "", samples[i].count);
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(out, ']');
	return err;
}

/* Within their second, one after the other: more is not known. */
static int add_times(struct thread_writer *t, const struct firefox_sample *samples,
		     size_t n)
{
	struct str *out = &t->f->buffer.text;
	size_t start = 0, end = 0;
	int err = 0;

	column(t, "time");
	for (size_t i = 0; !err && i < n; i++) {
		if (i == end) {
			start = i;
			while (end < n && samples[end].second == samples[start].second)
				end++;
		}
		str_addf(out, "%s%.3f", i ? "," : "",
			 samples[i].second * 1e3 +
				 1e3 * (double)(i - start) / (double)(end - start));
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add(out, "]},\n");
	return err;
}

static int add_stacks(struct thread_writer *t)
{
	struct str *out = &t->f->buffer.text;
	size_t n = t->stacks.n;
	int err = 0;

	str_addf(out, "\"stackTable\":{\"length\":%zu", n);
	column(t, "frame");
	for (size_t i = 0; !err && i < n; i++) {
		str_addf(out, "%s%u", i ? "," : "", t->stacks.items[i].b);
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(out, ']');
	column(t, "prefix");
	for (size_t i = 0; !err && i < n; i++) {
		str_add(out, i ? "," : "");
		if (t->stacks.items[i].a)
			str_addf(out, "%u", t->stacks.items[i].a - 1);
		else
			str_add(out, "null");
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(out, ']');
	column(t, "category");
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t function = t->local.items[t->stacks.items[i].b].a;

		str_addf(out, "%s%u", i ? "," : "",
			 t->f->functions.items[function].category);
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add_char(out, ']');
	if (!err)
		err = constant(t, "subcategory", "0", n);
	str_add(out, "},\n");
	return err;
}

static int add_frames(struct thread_writer *t)
{
	struct str *out = &t->f->buffer.text;
	size_t n = t->local.n;
	int err = 0;

	str_addf(out, "\"frameTable\":{\"length\":%zu", n);
	column(t, "func");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%zu", i ? "," : "", i);
	str_add_char(out, ']');
	column(t, "category");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%u", i ? "," : "",
			 t->f->functions.items[t->local.items[i].a].category);
	str_add_char(out, ']');
	err = constant(t, "address", "-1", n);
	if (!err)
		err = constant(t, "inlineDepth", "0", n);
	if (!err)
		err = constant(t, "subcategory", "0", n);
	if (!err)
		err = constant(t, "nativeSymbol", "null", n);
	if (!err)
		err = constant(t, "innerWindowID", "0", n);
	if (!err)
		err = constant(t, "implementation", "null", n);
	if (!err)
		err = constant(t, "line", "null", n);
	if (!err)
		err = constant(t, "column", "null", n);
	str_add(out, "},\n");
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
	struct str *out = &t->f->buffer.text;
	size_t n = t->local.n;
	int err = 0;

	str_addf(out, "\"funcTable\":{\"length\":%zu", n);
	column(t, "name");
	for (size_t i = 0; i < n; i++) {
		uint32_t code = t->f->functions.items[t->local.items[i].a].code;

		str_addf(out, "%s%u", i ? "," : "",
			 string_of(t, profile_code_name(t->f->r, code)));
	}
	str_add_char(out, ']');
	column(t, "resource");
	for (size_t i = 0; !err && i < n; i++) {
		int64_t resource;

		err = resource_of(t, t->f->functions.items[t->local.items[i].a].module,
				  &resource);
		str_addf(out, "%s%" PRId64, i ? "," : "", resource);
	}
	str_add_char(out, ']');
	if (!err)
		err = constant(t, "isJS", "false", n);
	if (!err)
		err = constant(t, "relevantForJS", "false", n);
	if (!err)
		err = constant(t, "fileName", "null", n);
	if (!err)
		err = constant(t, "lineNumber", "null", n);
	if (!err)
		err = constant(t, "columnNumber", "null", n);
	str_add(out, "},\n");
	return err;
}

static int add_resources(struct thread_writer *t)
{
	struct str *out = &t->f->buffer.text;
	size_t n = t->resources.n;
	int err;

	str_addf(out, "\"resourceTable\":{\"length\":%zu", n);
	column(t, "name");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%u", i ? "," : "",
			 string_of(t,
				   profile_module_name(t->f->r, t->resources.items[i])));
	str_add_char(out, ']');
	err = constant(t, "lib", "null", n);
	if (!err)
		err = constant(t, "host", "null", n);
	if (!err)
		err = constant(t, "type", "1", n);
	str_add(out, "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
		     "\"name\":[],\"functionSize\":[]},\n\"markers\":{\"length\":0,"
		     "\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],"
		     "\"phase\":[],\"startTime\":[]},\n\"stringArray\":[");
	for (uint32_t i = 0; !err && i < intern_count(t->strings); i++) {
		str_add(out, i ? "," : "");
		str_add_json(out, intern_string(t->strings, i));
		err = output_buffer_drain(&t->f->buffer);
	}
	str_add(out, "]}");
	return err;
}

static void add_names(struct thread_writer *t, uint32_t thread)
{
	const struct profile *r = t->f->r;
	const struct profile_thread *th = &r->threads.items[thread];
	const struct profile_process *process = &r->processes.items[th->process];
	const char *name = profile_string(r, th->name);
	const struct timeline *timeline = &r->timeline;
	double end = timeline->is_dated ? timeline->last - timeline->first + 1.0 : 1.0;
	struct str *out = &t->f->buffer.text;

	str_add(out, "\n{\"name\":");
	str_add_json(out, thread ? *name ? name : "[no name]" : "other threads");
	str_add(out, ",\"processName\":");
	str_add_json(out, profile_string(r, process->name));
	str_addf(out,
		 ",\"pid\":\"%u\",\"tid\":%u,\"isMainThread\":%s,"
		 "\"processType\":\"default\",\"processStartupTime\":0,"
		 "\"processShutdownTime\":%.0f,\"registerTime\":0,"
		 "\"unregisterTime\":null,\"pausedRanges\":[],\n",
		 process->pid, th->tid,
		 thread && th->tid == process->pid ? "true" : "false", end * 1e3);
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
	struct thread_writer t = { .f = f };
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
