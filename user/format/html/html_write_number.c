// SPDX-License-Identifier: BSD-2-Clause
#include "format/html/html_write.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

int html_text(struct html *h, const char *text, uint32_t *ret)
{
	int err = intern_id(h->texts, text, strlen(text), ret);

	return err > 0 ? fail(-ENOSPC, "too many distinct names for a page") : err;
}

static const uint8_t marks[] = {
	[BOUNDARY_ASYNC] = HTML_ASKED,
	[BOUNDARY_WAITS] = HTML_WAITS,
	[BOUNDARY_THREAD] = HTML_OTHER_THREAD,
	[BOUNDARY_FIBER] = HTML_RESUMED,
};

static int new_numbers(uint32_t **ret, size_t n)
{
	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return fail(-ENOMEM, "no memory for a page of %zu", n);
	memset(*ret, 0xff, n * sizeof(**ret));
	return 0;
}

static int module_of(struct html *h, uint32_t module, uint32_t *ret)
{
	int err = 0;

	if (h->module_of[module] == HTML_UNUSED) {
		h->module_of[module] = (uint32_t)h->modules.n;
		err = vec_push(&h->modules, module);
	}
	*ret = h->module_of[module];
	return err;
}

/* What a page needs of a function besides what tells it apart: strings. */
struct particulars {
	uint32_t file, whole;
};

static int add_function(struct html *h, const struct html_function *function,
			const struct particulars *of, uint32_t *ret)
{
	int err = intern_id(h->functions, function, sizeof(*function), ret);

	if (err > 0)
		return fail(-ENOSPC, "too many functions for a page");
	if (err || *ret < h->files.n)
		return err;
	err = vec_push(&h->files, of->file);
	return err ? err : vec_push(&h->whole, of->whole);
}

static int frame_function(struct html *h, uint32_t code, uint32_t *ret)
{
	const struct profile *r = h->profile;
	const struct profile_frame *frame = &r->frames.items[code];
	struct html_function function = {
		.type = frame->type == FRAME_TYPE_LABEL ? HTML_LABEL : frame->type,
	};
	struct particulars of;
	int err;

	if (h->function_of[code] != HTML_UNUSED) {
		*ret = h->function_of[code];
		return 0;
	}
	err = html_text(h, profile_string(r, frame->name), &of.whole);
	function.name = of.whole;
	if (!err && h->shorts)
		err = html_text(h, short_names_get(h->shorts, frame->name),
				&function.name);
	if (!err)
		err = html_text(h, profile_string(r, frame->file), &of.file);
	if (!err)
		err = module_of(h, frame->module, &function.module);
	if (!err)
		err = add_function(h, &function, &of, ret);
	if (!err)
		h->function_of[code] = *ret;
	return err;
}

/* Of a code: a frame's function, or a mark as one. */
static int function_of(struct html *h, uint32_t code, uint32_t *ret)
{
	struct html_function function = { 0 };
	uint32_t boundary = code & 0xff;
	int err;

	if (PROFILE_IS_FRAME(code))
		return frame_function(h, code, ret);
	switch (PROFILE_MARK(code)) {
	case VIEW_BOUNDARY:
		function.type = boundary < sizeof(marks) ? marks[boundary] : HTML_ASKED;
		break;
	case VIEW_GAP:
		function.type = HTML_GAP;
		break;
	default:
		function.type = HTML_CUT;
		break;
	}
	err = html_text(h, profile_code_name(h->profile, code), &function.name);
	if (!err)
		err = module_of(h, 0, &function.module);
	return err ? err
		   : add_function(h, &function,
				  &(struct particulars){ .whole = function.name }, ret);
}

/* A node is wanted where something was counted at or below it. */
static void want(struct html *h, uint32_t node)
{
	for (; node && h->node_of[node] == HTML_UNUSED;
	     node = profile_parent(h->profile, node))
		h->node_of[node] = 0;
}

/* Parents come before their children, so theirs are numbered already. */
static int number_nodes(struct html *h)
{
	const struct profile *r = h->profile;
	uint32_t id, function;
	int err = pairs_id(&h->nodes, (struct pair){ 0, UINT32_MAX }, 1, &id);

	h->node_of[0] = 0;
	for (uint32_t node = 1; !err && node < r->nodes.n; node++) {
		struct pair pair;

		if (h->node_of[node] == HTML_UNUSED)
			continue;
		err = function_of(h, profile_code(r, node), &function);
		pair = (struct pair){ h->node_of[profile_parent(r, node)], function };
		if (!err)
			err = pairs_id(&h->nodes, pair, HTML_NODES_MAX, &id);
		if (err == PAIRS_FULL) { /* charged to the caller */
			id = pair.a;
			h->left_out++;
			err = 0;
		}
		h->node_of[node] = id;
	}
	return err;
}

static int thread_of(struct html *h, uint32_t thread, uint32_t *ret)
{
	uint32_t process = h->profile->threads.items[thread].process;
	int err = 0;

	if (h->process_of[process] == HTML_UNUSED) {
		h->process_of[process] = (uint32_t)h->processes.n;
		err = vec_push(&h->processes, process);
	}
	if (!err && h->thread_of[thread] == HTML_UNUSED) {
		h->thread_of[thread] = (uint32_t)h->threads.n;
		err = vec_push(&h->threads, thread);
	}
	*ret = h->thread_of[thread];
	return err;
}

static int number_sample_key(struct html *h, size_t sample_key)
{
	const struct profile *r = h->profile;
	struct pair pair = r->timeline.sample_keys.items[sample_key];
	const struct profile_stack *stack = &r->stacks.items[pair.a];
	const struct pair leaves = { h->node_of[stack->node[VIEW_ASYNC]],
				     h->node_of[stack->node[VIEW_THREAD]] };
	uint32_t id;
	int err = pairs_id(&h->stacks, leaves, UINT32_MAX, &pair.a);

	if (!err)
		err = thread_of(h, pair.b, &pair.b);
	if (!err)
		err = pairs_id(&h->sample_keys, pair, UINT32_MAX, &id);
	if (!err && id == h->sums.n)
		err = vec_push(&h->sums, 0);
	if (err)
		return err;
	h->sums.items[id] += r->timeline.counts.items[sample_key];
	h->sample_key_of[sample_key] = id;
	return 0;
}

static int number_uses(struct html *h)
{
	const struct timeline *timeline = &h->profile->timeline;
	int err = 0;

	for (size_t i = 0; !err && i < timeline->sample_keys.n; i++)
		if (timeline->counts.items[i])
			err = number_sample_key(h, i);
	return err;
}

int html_number(struct html *h)
{
	const struct profile *r = h->profile;
	const struct timeline *timeline = &r->timeline;
	int err = new_numbers(&h->function_of, r->frames.n);

	if (!err)
		err = new_numbers(&h->module_of, r->modules.n);
	if (!err)
		err = new_numbers(&h->node_of, r->nodes.n);
	if (!err)
		err = new_numbers(&h->sample_key_of, timeline->sample_keys.n);
	if (!err)
		err = new_numbers(&h->thread_of, r->threads.n);
	if (!err)
		err = new_numbers(&h->process_of, r->processes.n);
	if (err)
		return err;
	for (size_t i = 0; i < timeline->sample_keys.n; i++) {
		uint32_t stack = timeline->sample_keys.items[i].a;

		if (!timeline->counts.items[i])
			continue;
		want(h, r->stacks.items[stack].node[VIEW_ASYNC]);
		want(h, r->stacks.items[stack].node[VIEW_THREAD]);
	}
	err = number_nodes(h);
	return err ? err : number_uses(h);
}
