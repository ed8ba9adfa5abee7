// SPDX-License-Identifier: BSD-2-Clause
#include "format/text/text.h"

#include "base/error.h"
#include "core/functions.h"
#include "format/output_buffer.h"
#include "format/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define GREY   "\033[2m"
#define BOLD   "\033[1m"
#define KERNEL "\033[33m"
#define JIT    "\033[35m"
#define ASYNC  "\033[36m"
#define PLAIN  "\033[0m"

#define INDENT_MAX  48
#define NAME_COLUMN 22 /* where one begins, without branches before it */
#define NAME_MIN    20 /* letters, however narrow the terminal is */

struct text {
	struct output_buffer buffer;
	const struct profile *r;
	const struct text_options *options;
	uint64_t total;
};

static void colour(struct text *t, const char *code)
{
	if (t->options->colours && code)
		str_add(&t->buffer.text, code);
}

static double share(const struct text *t, uint64_t count)
{
	return t->total ? 100.0 * (double)count / (double)t->total : 0;
}

static const char *kind_colour(enum tree_kind kind)
{
	switch (kind) {
	case TREE_KERNEL:
		return KERNEL;
	case TREE_JIT:
		return JIT;
	case TREE_MARK:
		return ASYNC;
	case TREE_GROUP:
		return BOLD;
	default:
		return NULL;
	}
}

static const char *frame_type_colour(uint32_t type)
{
	return type == FRAME_TYPE_KERNEL ? KERNEL : type == FRAME_TYPE_JIT ? JIT : NULL;
}

/* Where the n-th letter from here begins, or the end. */
static const char *letter(const char *s, size_t n)
{
	for (; *s && n; n--)
		do
			s++;
		while (((unsigned char)*s & 0xc0) == 0x80);
	return s;
}

/* How many letters a name may have in a row of which so many columns are used. */
static size_t room_for_name(const struct text *t, size_t used)
{
	size_t columns = t->options->columns, letters = t->options->letters, room;

	if (!columns)
		return letters;
	room = columns > used + NAME_MIN ? columns - used : NAME_MIN;
	return letters && letters < room ? letters : room;
}

/* A name's first letters say what it is, its last ones which. most: 0 = all of them. */
static void add_name(struct text *t, const char *name, size_t most)
{
	size_t head = most / 2;
	const char *end = most ? letter(name, most) : "";
	const char *tail = name;

	if (!*end) {
		str_add(&t->buffer.text, name);
		return;
	}
	for (; *end; end = letter(end, 1))
		tail = letter(tail, 1);
	str_add_bytes(&t->buffer.text, name, (size_t)(letter(name, head) - name));
	str_add(&t->buffer.text, "…");
	str_add(&t->buffer.text, letter(tail, head + 1));
}

/* What the picture is of, in a line. */
static void head(struct text *t)
{
	const struct profile *r = t->r;
	struct str *out = &t->buffer.text;
	uint64_t all = 0;

	colour(t, BOLD);
	str_addf(out, "%s VIEW", t->options->view == VIEW_ASYNC ? "ASYNC" : "THREAD");
	colour(t, PLAIN);
	str_addf(out, "  %" PRIu64, t->total);
	if (t->options->unfiltered > t->total)
		str_addf(out, " of %" PRIu64, t->options->unfiltered);
	str_addf(out, " %s", profile_string(r, r->value_type));
	for (size_t i = 0; i < r->runs.n; i++)
		all += r->runs.items[i].duration_ns;
	if (all)
		str_addf(out, ", %.1f s", (double)all / 1e9);
	if (r->runs.n > 1)
		str_addf(out, ", %zu recordings", r->runs.n);
	else if (r->runs.n && r->runs.items[0].hz)
		str_addf(out, " at %u Hz", r->runs.items[0].hz);
	if (r->runs.n == 1 && r->runs.items[0].host)
		str_addf(out, " on %s", profile_string(r, r->runs.items[0].host));
	if (r->one_view)
		str_add(out, " (its source has one view)");
	str_add_char(out, '\n');
}

static void table_row(struct text *t, const struct function *function)
{
	struct str *out = &t->buffer.text;
	const char *module = profile_module_name(t->r, function->module);
	const char *name = profile_string(t->r, function->name);
	size_t used = NAME_COLUMN;

	if (!*module || !strncmp(name, module, strlen(module)))
		module = "";
	else if (!t->options->columns ||
		 used + NAME_MIN + 2 + strlen(module) <= t->options->columns)
		used += 2 + strlen(module);
	else
		module = "";
	str_addf(out, "  %6.2f %%  %6.2f %%  ", share(t, function->self),
		 share(t, function->total));
	colour(t, frame_type_colour(function->type));
	add_name(t, name, room_for_name(t, used));
	colour(t, frame_type_colour(function->type) ? PLAIN : NULL);
	if (*module) {
		colour(t, GREY);
		str_addf(out, "  %s", module);
		colour(t, PLAIN);
	}
	str_add_char(out, '\n');
}

static int table(struct text *t)
{
	struct functions functions;
	int err =
		functions_find(&functions, t->r, t->options->view, t->options->no_kernel);
	size_t n = functions.items.n;

	if (t->options->top && n > t->options->top)
		n = t->options->top;
	str_add(&t->buffer.text, "\n      self     total  function  module\n");
	for (size_t i = 0; !err && i < n; i++) {
		table_row(t, &functions.items.items[i]);
		err = output_buffer_drain(&t->buffer);
	}
	if (!err && n < functions.items.n)
		str_addf(&t->buffer.text, "  … and %zu more\n", functions.items.n - n);
	functions_free(&functions);
	return err;
}

static void tree_row(struct text *t, const struct tree *tree, uint32_t node,
		     unsigned int depth)
{
	struct str *out = &t->buffer.text;
	const char *code = kind_colour((enum tree_kind)tree_label(tree, node)->kind);

	str_addf(out, "  %6.2f %%  ", share(t, tree->total.items[node]));
	if (tree->self.items[node])
		str_addf(out, "%6.2f %%  ", share(t, tree->self.items[node]));
	else
		str_add(out, "          ");
	for (unsigned int i = 0; i < depth && i < INDENT_MAX; i++)
		str_add(out, "| ");
	if (depth > INDENT_MAX)
		str_addf(out, "(%u) ", depth);
	colour(t, code);
	add_name(t, tree_text(tree, node),
		 room_for_name(t, NAME_COLUMN + 2 * (size_t)(depth < INDENT_MAX
								     ? depth
								     : INDENT_MAX)));
	colour(t, code ? PLAIN : NULL);
	str_add_char(out, '\n');
}

/* A child that is alone and takes all goes below its parent without a step in. */
static bool goes_straight(const struct tree *tree, uint32_t parent)
{
	return parent && tree->first[parent + 1] - tree->first[parent] == 1 &&
	       !tree->self.items[parent];
}

struct branch {
	uint32_t next, end; /* in tree->order */
	unsigned int depth;
};

static int tree_rows(struct text *t, const struct tree *tree)
{
	VEC(struct branch) open = { 0 };
	uint64_t least = text_least(tree, t->options->least);
	int err = vec_push(&open, (struct branch){ tree->first[0], tree->first[1], 0 });

	while (!err && open.n) {
		struct branch *branch = &open.items[open.n - 1];
		uint32_t node;
		unsigned int depth = branch->depth;

		if (branch->next == branch->end ||
		    tree->total.items[tree->order[branch->next]] < least) {
			open.n--;
			continue;
		}
		node = tree->order[branch->next++];
		tree_row(t, tree, node, depth);
		err = output_buffer_drain(&t->buffer);
		if (!err)
			err = vec_push(
				&open,
				(struct branch){ tree->first[node], tree->first[node + 1],
						 depth + !goes_straight(tree, node) });
	}
	vec_free(&open);
	return err;
}

struct tree_options text_tree_options(const struct text_options *options)
{
	return (struct tree_options){
		.view = options->view,
		.group = options->group,
		.invert = options->invert,
		.no_kernel = options->no_kernel,
		.focus = options->caller ? options->caller : options->callee,
		.callers = options->caller,
	};
}

uint64_t text_least(const struct tree *tree, unsigned int per_mille)
{
	uint64_t total = tree->total.items[0];

	return total / 1000 * per_mille + (total % 1000 * per_mille + 999) / 1000;
}

static int stacks(struct text *t)
{
	const struct text_options *options = t->options;
	const struct tree_options how = text_tree_options(options);
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, t->r, &how);

	if (err)
		return err;
	if (options->caller)
		str_addf(&t->buffer.text, "\n     total      self  who calls%s %s\n",
			 options->view == VIEW_ASYNC ? " or asks for" : "",
			 options->caller);
	else if (options->callee)
		str_addf(&t->buffer.text, "\n     total      self  what %s calls%s\n",
			 options->callee,
			 options->view == VIEW_ASYNC ? " or asks for" : "");
	else
		str_addf(&t->buffer.text, "\n     total      self  stacks, from %s\n",
			 options->invert ? "the leaf" : "the root");
	return tree_rows(t, tree);
}

int text_write(struct outfile *out, const struct profile *profile,
	       const struct text_options *options)
{
	struct text t = { .buffer.out = out,
			  .r = profile,
			  .options = options,
			  .total = profile->timeline.total };
	int err = 0;

	head(&t);
	if (!t.total)
		str_add(&t.buffer.text, "\nno samples\n");
	else if (!options->caller && !options->callee)
		err = table(&t);
	if (!err && t.total)
		err = stacks(&t);
	if (!err)
		err = output_buffer_close(&t.buffer);
	output_buffer_free(&t.buffer);
	return err;
}
