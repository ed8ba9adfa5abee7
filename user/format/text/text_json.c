// SPDX-License-Identifier: BSD-2-Clause
/* The same for a program. Nodes of the tree stand after their parents, by number,
 * since many parsers take no deep nesting. */
#include "format/text/text.h"

#include "core/functions.h"
#include "format/output_buffer.h"
#include "format/writer.h"

#include <inttypes.h>

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

static void add_text(struct str *out, const char *key, const char *value)
{
	str_addf(out, "\"%s\":", key);
	str_add_json(out, value);
	str_add_char(out, ',');
}

static void add_runs(struct str *out, const struct profile *r)
{
	str_add(out, "\"runs\":[");
	for (size_t i = 0; i < r->runs.n; i++) {
		const struct profile_run *run = &r->runs.items[i];

		str_add(out, i ? ",{" : "{");
		add_text(out, "host", profile_string(r, run->host));
		add_text(out, "kernel", profile_string(r, run->kernel));
		add_text(out, "arch", profile_string(r, run->arch));
		add_text(out, "command", profile_string(r, run->command));
		add_text(out, "event", profile_string(r, run->event));
		str_addf(out,
			 "\"rate_hz\":%u,\"started_unix_ns\":%" PRIu64
			 ",\"duration_ns\":%" PRIu64 "}",
			 run->hz, run->started_unix_ns, run->duration_ns);
	}
	str_add(out, "],\n\"ledger\":{");
	for (size_t i = 0; i < r->ledger.n; i++) {
		str_add(out, i ? "," : "");
		str_add_json(out, profile_string(r, r->ledger.items[i].key));
		str_addf(out, ":%" PRIu64, r->ledger.items[i].value);
	}
	str_add(out, "},\n");
}

static int add_functions(struct output_buffer *buffer, const struct profile *r,
			 const struct text_options *options)
{
	struct functions functions;
	int err = functions_find(&functions, r, options->view, options->no_kernel);
	size_t n = functions.items.n;

	if (options->top && n > options->top)
		n = options->top;
	str_add(&buffer->text, "\"functions\":[");
	for (size_t i = 0; !err && i < n; i++) {
		const struct function *f = &functions.items.items[i];

		str_add(&buffer->text, i ? ",\n{" : "\n{");
		add_text(&buffer->text, "name", profile_string(r, f->name));
		add_text(&buffer->text, "module",
			 profile_string(r, r->modules.items[f->module].path));
		str_addf(&buffer->text,
			 "\"kind\":\"%s\",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}",
			 frame_type_names[f->type], f->self, f->total);
		err = output_buffer_drain(buffer);
	}
	str_addf(&buffer->text, "],\n\"functions_left_out\":%zu,\n",
		 functions.items.n - n);
	functions_free(&functions);
	return err;
}

static int add_nodes(struct output_buffer *buffer, const struct tree *tree,
		     uint64_t least)
{
	int err = 0;
	bool any = false;
	uint32_t left_out = 0;

	str_add(&buffer->text, "\"stacks\":[");
	for (uint32_t i = 1; !err && i < tree->nodes.n; i++) {
		if (!tree->total.items[i])
			continue;
		if (tree->total.items[i] < least) {
			left_out++;
			continue;
		}
		str_addf(&buffer->text, "%s{\"id\":%u,\"parent\":%u,", any ? ",\n" : "\n",
			 i, tree->nodes.items[i].a);
		add_text(&buffer->text, "name", tree_text(tree, i));
		str_addf(&buffer->text,
			 "\"kind\":\"%s\",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}",
			 kind_names[tree_label(tree, i)->kind], tree->self.items[i],
			 tree->total.items[i]);
		any = true;
		err = output_buffer_drain(buffer);
	}
	str_addf(&buffer->text, "],\n\"stacks_left_out\":%u}\n", left_out);
	return err;
}

static int add_stacks(struct output_buffer *buffer, const struct profile *r,
		      const struct text_options *options)
{
	const struct tree_options how = text_tree_options(options);
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, r, &how);

	return err ? err
		   : add_nodes(buffer, tree,
			       text_least(r->timeline.total, options->least));
}

int text_write_json(struct outfile *out, const struct profile *r,
		    const struct text_options *options)
{
	struct output_buffer buffer = { .out = out };
	int err;

	str_addf(&buffer.text, "{\"version\":1,\"view\":\"%s\",\"one_view\":%s,",
		 options->view == VIEW_ASYNC ? "async" : "thread",
		 r->one_view ? "true" : "false");
	str_addf(&buffer.text, "\"was_cut\":%s,", r->was_cut ? "true" : "false");
	add_text(&buffer.text, "value_type", profile_string(r, r->value_type));
	add_text(&buffer.text, "value_unit", profile_string(r, r->value_unit));
	str_addf(&buffer.text, "\"total\":%" PRIu64 ",\n", r->timeline.total);
	add_runs(&buffer.text, r);
	err = add_functions(&buffer, r, options);
	if (!err)
		err = add_stacks(&buffer, r, options);
	if (!err)
		err = output_buffer_close(&buffer);
	output_buffer_free(&buffer);
	return err;
}
