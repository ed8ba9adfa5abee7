// SPDX-License-Identifier: BSD-2-Clause
#include "core/tree.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

#define TREE_NODES_MAX	(32u << 20)
#define TREE_LABELS_MAX (16u << 20)
#define NOT_YET		UINT32_MAX

struct builder {
	const struct profile *profile;
	const struct tree_options *options;
	struct tree *tree;
	uint32_t *by_frame;  /* label, or NOT_YET */
	uint32_t *by_thread; /* node of its group, or NOT_YET */
	bool *in_focus;	     /* by frame: is it what the focus means? */
	struct pairs ends;   /* a = group's node, b = profile's node; with sums */
	VEC(uint64_t) sums;
	VEC(uint32_t) codes; /* of the stack at hand, leaf first */
	struct str text;
};

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	intern_free(tree->texts);
	vec_free(&tree->labels);
	pairs_free(&tree->nodes);
	vec_free(&tree->self);
	vec_free(&tree->total);
	free(tree->first);
	free(tree->order);
	free(tree);
}

static enum tree_kind kind_of(const struct profile *r, uint32_t code)
{
	static const enum tree_kind kinds[] = {
		[FRAME_TYPE_UNKNOWN] = TREE_UNKNOWN, [FRAME_TYPE_NATIVE] = TREE_NATIVE,
		[FRAME_TYPE_KERNEL] = TREE_KERNEL,   [FRAME_TYPE_JIT] = TREE_JIT,
		[FRAME_TYPE_INLINED] = TREE_INLINED, [FRAME_TYPE_LABEL] = TREE_UNKNOWN,
	};

	return PROFILE_IS_FRAME(code) ? kinds[r->frames.items[code].type] : TREE_MARK;
}

/* The label with the text at hand. */
static int add_label(struct builder *b, struct tree_label label, uint32_t *ret)
{
	int err = str_error(&b->text);

	if (!err)
		err = intern_id(b->tree->texts, b->text.s ? b->text.s : "", b->text.n,
				ret);
	if (err)
		return err < 0 ? err : fail(-ENOSPC, "too many distinct names");
	return *ret == b->tree->labels.n ? vec_push(&b->tree->labels, label) : 0;
}

static int label_of(struct builder *b, uint32_t code, uint32_t *ret)
{
	const struct profile *r = b->profile;
	bool is_frame = PROFILE_IS_FRAME(code);
	struct tree_label label = { kind_of(r, code),
				    is_frame ? r->frames.items[code].module : 0 };
	int err;

	if (is_frame && b->by_frame[code] != NOT_YET) {
		*ret = b->by_frame[code];
		return 0;
	}
	str_clear(&b->text);
	if (b->options->frame_text)
		b->options->frame_text(&b->text, r, code);
	else
		str_add(&b->text, profile_code_name(r, code));
	err = add_label(b, label, ret);
	if (!err && is_frame)
		b->by_frame[code] = *ret;
	return err;
}

static int add_node(struct builder *b, uint32_t parent, uint32_t label, uint32_t *ret)
{
	struct tree *tree = b->tree;
	int err = pairs_id(&tree->nodes, (struct pair){ parent, label }, TREE_NODES_MAX,
			   ret);

	if (err == PAIRS_FULL) { /* charged to the caller */
		*ret = parent;
		return 0;
	}
	if (!err && *ret == tree->self.n)
		err = vec_push(&tree->self, 0);
	return err;
}

void tree_group_text(struct str *out, const struct profile *r, enum tree_group group,
		     uint32_t thread)
{
	const struct profile_thread *t = &r->threads.items[thread];
	const struct profile_process *p = &r->processes.items[t->process];
	char container[256];

	switch (group) {
	case GROUP_PROCESS:
		str_addf(out, "%s (%u)", profile_string(r, p->name), p->pid);
		break;
	case GROUP_THREAD:
		str_addf(out, "%s (%u/%u)", profile_string(r, t->name), p->pid, t->tid);
		break;
	case GROUP_CONTAINER:
		profile_container(container, sizeof(container),
				  profile_string(r, p->cgroup));
		str_add(out, *container ? container : "[no container]");
		break;
	case GROUP_HOST:
		str_add(out, p->host ? profile_string(r, p->host) : "[unknown host]");
		break;
	default:
		str_add(out, profile_string(r, t->name));
		break;
	}
}

static int group_of(struct builder *b, uint32_t thread, uint32_t *ret)
{
	AUTO_STR plain = { 0 };
	uint32_t label;
	int err;

	*ret = 0;
	if (b->options->group == GROUP_NONE || b->options->invert || b->options->focus)
		return 0;
	*ret = b->by_thread[thread];
	if (*ret != NOT_YET)
		return 0;
	tree_group_text(&plain, b->profile, b->options->group, thread);
	str_clear(&b->text);
	if (b->options->group_text)
		b->options->group_text(&b->text, b->profile, plain.s ? plain.s : "");
	else
		str_add_bytes(&b->text, plain.s, plain.n);
	err = str_error(&plain);
	if (!err)
		err = add_label(b, (struct tree_label){ TREE_GROUP, 0 }, &label);
	if (!err)
		err = add_node(b, 0, label, ret);
	b->by_thread[thread] = *ret;
	return err;
}

/* A node and its group are walked once, however many sample keys have them. */
static int sum_up(struct builder *b)
{
	const struct timeline *timeline = &b->profile->timeline;
	int err = 0;

	for (size_t i = 0; !err && i < timeline->sample_keys.n; i++) {
		struct pair sample_key = timeline->sample_keys.items[i];
		struct pair end = {
			.b = b->profile->stacks.items[sample_key.a].node[b->options->view]
		};
		uint32_t id;

		if (!timeline->counts.items[i])
			continue;
		err = group_of(b, sample_key.b, &end.a);
		if (!err)
			err = pairs_id(&b->ends, end, SAMPLE_KEYS_MAX, &id);
		if (!err && id == b->sums.n)
			err = vec_push(&b->sums, 0);
		if (!err)
			b->sums.items[id] += timeline->counts.items[i];
	}
	return err;
}

static int read_codes(struct builder *b, uint32_t node)
{
	const struct profile *r = b->profile;
	int err = 0;

	b->codes.n = 0;
	for (; !err && node; node = profile_parent(r, node)) {
		uint32_t code = profile_code(r, node);

		if (!b->options->no_kernel || kind_of(r, code) != TREE_KERNEL)
			err = vec_push(&b->codes, code);
	}
	return err;
}

/* The part of codes that the focus leaves, from *at, leaf first; false: none. */
static bool find_focus(const struct builder *b, size_t *at, size_t *n)
{
	bool found = false;
	size_t end = b->codes.n;

	*at = 0;
	*n = end;
	if (!b->options->focus)
		return true;
	for (size_t i = 0; i < end; i++) {
		uint32_t code = b->codes.items[i];

		if (!PROFILE_IS_FRAME(code) || !b->in_focus[code])
			continue;
		found = true;
		if (b->options->callers) { /* the one nearest to the leaf */
			*at = i;
			*n = end - i;
			break;
		}
		*n = i + 1; /* the one nearest to the root */
	}
	return found;
}

static int add_stack(struct builder *b, struct pair end, uint64_t count)
{
	bool leaf_first = b->options->invert || b->options->callers;
	uint32_t node = end.a, label;
	int err = read_codes(b, end.b);
	size_t at, n;

	if (err || !find_focus(b, &at, &n))
		return err;
	for (size_t i = 0; !err && i < n; i++) {
		err = label_of(b, b->codes.items[leaf_first ? at + i : at + n - 1 - i],
			       &label);
		if (!err)
			err = add_node(b, node, label, &node);
	}
	if (!err)
		b->tree->self.items[node] += count;
	return err;
}

static int add_totals(struct tree *tree)
{
	size_t n = tree->nodes.n;
	int err = vec_reserve(&tree->total, n);

	if (err)
		return err;
	memcpy(tree->total.items, tree->self.items, n * sizeof(uint64_t));
	tree->total.n = n;
	for (size_t i = n; --i;)
		tree->total.items[tree->nodes.items[i].a] += tree->total.items[i];
	return 0;
}

static int by_total(const void *a, const void *b, void *arg)
{
	const struct tree *tree = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t s = tree->total.items[x], t = tree->total.items[y];

	if (s != t)
		return s > t ? -1 : 1;
	return strcmp(tree_text(tree, x), tree_text(tree, y));
}

static int order(struct tree *tree)
{
	size_t n = tree->nodes.n;
	AUTO_FREE uint32_t *next = calloc(n + 1, sizeof(*next));

	tree->first = calloc(n + 1, sizeof(*tree->first));
	tree->order = calloc(n, sizeof(*tree->order));
	if (!next || !tree->first || !tree->order)
		return fail(-ENOMEM, "no memory for a tree of %zu", n);
	for (size_t i = 1; i < n; i++)
		tree->first[tree->nodes.items[i].a + 1]++;
	for (size_t i = 0; i < n; i++)
		tree->first[i + 1] += tree->first[i];
	memcpy(next, tree->first, n * sizeof(*next));
	for (size_t i = 1; i < n; i++)
		tree->order[next[tree->nodes.items[i].a]++] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		qsort_r(tree->order + tree->first[i], tree->first[i + 1] - tree->first[i],
			sizeof(*tree->order), by_total, tree);
	return 0;
}

static int make_room(struct builder *b)
{
	const struct profile *r = b->profile;
	const char *focus = b->options->focus;

	b->by_frame = calloc(r->frames.n + 1, sizeof(*b->by_frame));
	b->by_thread = calloc(r->threads.n + 1, sizeof(*b->by_thread));
	b->in_focus = calloc(r->frames.n + 1, sizeof(*b->in_focus));
	if (!b->by_frame || !b->by_thread || !b->in_focus)
		return fail(-ENOMEM, "no memory for a tree");
	memset(b->by_frame, 0xff, r->frames.n * sizeof(*b->by_frame));
	memset(b->by_thread, 0xff, r->threads.n * sizeof(*b->by_thread));
	for (uint32_t i = 0; focus && i < r->frames.n; i++)
		b->in_focus[i] = glob_matches(focus, profile_code_name(r, i));
	return 0;
}

static int build(struct builder *b)
{
	uint32_t root;
	int err = make_room(b);

	if (!err)
		err = add_node(b, 0, UINT32_MAX, &root);
	if (!err)
		err = sum_up(b);
	for (size_t i = 0; !err && i < b->ends.n; i++)
		err = add_stack(b, b->ends.items[i], b->sums.items[i]);
	if (!err)
		err = add_totals(b->tree);
	return err ? err : order(b->tree);
}

int tree_new(struct tree **ret, const struct profile *profile,
	     const struct tree_options *options)
{
	AUTO(tree) tree = calloc(1, sizeof(*tree));
	struct builder b = { .profile = profile, .options = options, .tree = tree };
	int err = tree ? intern_new(&tree->texts, TREE_LABELS_MAX)
		       : fail(-ENOMEM, "no memory for a tree");

	if (!err)
		err = build(&b);
	free(b.by_frame);
	free(b.by_thread);
	free(b.in_focus);
	pairs_free(&b.ends);
	vec_free(&b.sums);
	vec_free(&b.codes);
	str_free(&b.text);
	if (err)
		return err;
	*ret = GIVE(tree);
	return 0;
}
