// SPDX-License-Identifier: BSD-2-Clause
/* The same for a program. Nodes of the tree stand after their parents, by number,
 * since many parsers take no deep nesting. */
#include "format/text/text.h"

#include "base/json.h"
#include "core/functions.h"
#include "format/output_buffer.h"
#include "format/writer.h"

static const char *const frame_type_names[] = {
	[FRAME_TYPE_UNKNOWN] = "unknown", [FRAME_TYPE_NATIVE] = "native",
	[FRAME_TYPE_KERNEL] = "kernel",	  [FRAME_TYPE_JIT] = "jit",
	[FRAME_TYPE_INLINED] = "inlined", [FRAME_TYPE_LABEL] = "label",
};

static const char *const kind_names[] = {
	[TREE_GROUP] = "group",	    [TREE_MARK] = "mark",     [TREE_UNKNOWN] = "unknown",
	[TREE_NATIVE] = "native",   [TREE_KERNEL] = "kernel", [TREE_JIT] = "jit",
	[TREE_INLINED] = "inlined",
};

struct json_pen {
	struct output_buffer buffer;
	struct json json; /* onto its text */
};

static void add_runs(struct json *json, const struct profile *r)
{
	json_open(json, "runs", '[');
	for (size_t i = 0; i < r->runs.n; i++) {
		const struct profile_run *run = &r->runs.items[i];

		json_open(json, NULL, '{');
		json_text(json, "host", profile_string(r, run->host));
		json_text(json, "kernel", profile_string(r, run->kernel));
		json_text(json, "arch", profile_string(r, run->arch));
		json_text(json, "command", profile_string(r, run->command));
		json_text(json, "event", profile_string(r, run->event));
		json_uint(json, "rate_hz", run->hz);
		json_uint(json, "started_unix_ns", run->started_unix_ns);
		json_uint(json, "duration_ns", run->duration_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_line(json);
}

static void add_ledger(struct json *json, const struct profile *r)
{
	json_open(json, "ledger", '{');
	for (size_t i = 0; i < r->ledger.n; i++) {
		json_key(json, profile_string(r, r->ledger.items[i].key));
		json_uint(json, NULL, r->ledger.items[i].value);
	}
	json_close(json, '}');
	json_line(json);
}

static void add_function(struct json *json, const struct profile *r,
			 const struct function *f)
{
	json_line(json);
	json_open(json, NULL, '{');
	json_text(json, "name", profile_string(r, f->name));
	json_text(json, "module", profile_string(r, r->modules.items[f->module].path));
	json_text(json, "kind", frame_type_names[f->type]);
	json_uint(json, "self", f->self);
	json_uint(json, "total", f->total);
	json_close(json, '}');
}

static int add_functions(struct json_pen *out, const struct profile *r,
			 const struct text_options *options)
{
	struct functions functions;
	int err = functions_find(&functions, r, options->view, options->no_kernel);
	size_t n = functions.items.n;

	if (options->top && n > options->top)
		n = options->top;
	json_open(&out->json, "functions", '[');
	for (size_t i = 0; !err && i < n; i++) {
		add_function(&out->json, r, &functions.items.items[i]);
		err = output_buffer_drain(&out->buffer);
	}
	json_close(&out->json, ']');
	json_line(&out->json);
	json_uint(&out->json, "functions_dropped", functions.items.n - n);
	json_line(&out->json);
	functions_free(&functions);
	return err;
}

static void add_node(struct json *json, const struct tree *tree, uint32_t node)
{
	json_line(json);
	json_open(json, NULL, '{');
	json_uint(json, "id", node);
	json_uint(json, "parent", tree->nodes.items[node].a);
	json_text(json, "name", tree_text(tree, node));
	json_text(json, "kind", kind_names[tree_label(tree, node)->kind]);
	json_uint(json, "self", tree->self.items[node]);
	json_uint(json, "total", tree->total.items[node]);
	json_close(json, '}');
}

static int add_nodes(struct json_pen *out, const struct tree *tree, uint64_t least)
{
	int err = 0;
	uint32_t dropped = 0;

	json_open(&out->json, "stacks", '[');
	for (uint32_t i = 1; !err && i < tree->nodes.n; i++) {
		if (!tree->total.items[i])
			continue;
		if (tree->total.items[i] < least) {
			dropped++;
			continue;
		}
		add_node(&out->json, tree, i);
		err = output_buffer_drain(&out->buffer);
	}
	json_close(&out->json, ']');
	json_line(&out->json);
	json_uint(&out->json, "stacks_dropped", dropped);
	return err;
}

static int add_stacks(struct json_pen *out, const struct profile *r,
		      const struct text_options *options)
{
	const struct tree_options how = text_tree_options(options);
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, r, &how);

	return err ? err : add_nodes(out, tree, text_least(tree, options->least));
}

int text_write_json(struct outfile *file, const struct profile *r,
		    const struct text_options *options)
{
	struct json_pen out = { .buffer.out = file };
	struct json *json = &out.json;
	int err;

	json->out = &out.buffer.text;
	json_open(json, NULL, '{');
	json_uint(json, "version", 2);
	json_text(json, "view", options->view == VIEW_ASYNC ? "async" : "thread");
	json_bool(json, "one_view", r->one_view);
	json_bool(json, "truncated", r->was_cut);
	json_text(json, "value_type", profile_string(r, r->value_type));
	json_text(json, "value_unit", profile_string(r, r->value_unit));
	json_uint(json, "total", r->timeline.total);
	json_line(json);
	add_runs(json, r);
	add_ledger(json, r);
	err = add_functions(&out, r, options);
	if (!err)
		err = add_stacks(&out, r, options);
	json_close(json, '}');
	str_add_char(&out.buffer.text, '\n');
	if (!err)
		err = output_buffer_close(&out.buffer);
	output_buffer_free(&out.buffer);
	return err;
}
