// SPDX-License-Identifier: BSD-2-Clause
#include "core/functions.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct finder {
	const struct profile *r;
	struct functions *functions;
	struct pairs keys;	 /* a = name, b = module; by function */
	uint32_t *by_frame;	 /* function, or NONE: left out */
	VEC(uint32_t) last_seen; /* by function: the node whose stack had it last */
};

void functions_free(struct functions *functions)
{
	vec_free(&functions->items);
}

static int find_function(struct finder *f, uint32_t id, uint32_t *ret)
{
	const struct profile_frame *frame = &f->r->frames.items[id];
	struct function function = { .name = frame->name,
				     .module = frame->module,
				     .type = frame->type };
	int err = pairs_id(&f->keys, (struct pair){ frame->name, frame->module },
			   FRAMES_DISTINCT_MAX, ret);

	if (!err && *ret == f->functions->items.n)
		err = vec_push(&f->functions->items, function);
	if (!err && *ret == f->last_seen.n)
		err = vec_push(&f->last_seen, 0);
	return err;
}

static int find_all(struct finder *f, bool no_kernel)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < f->r->frames.n; i++) {
		f->by_frame[i] = NONE;
		if (!no_kernel || f->r->frames.items[i].type != FRAME_TYPE_KERNEL)
			err = find_function(f, i, &f->by_frame[i]);
	}
	return err;
}

static void count_stack(struct finder *f, uint32_t leaf, uint64_t count)
{
	bool is_leaf = true;

	for (uint32_t node = leaf; node; node = profile_parent(f->r, node)) {
		uint32_t code = profile_code(f->r, node);
		uint32_t id = PROFILE_IS_FRAME(code) ? f->by_frame[code] : NONE;

		if (id == NONE)
			continue;
		if (is_leaf)
			f->functions->items.items[id].self += count;
		is_leaf = false;
		if (f->last_seen.items[id] == leaf)
			continue;
		f->last_seen.items[id] = leaf;
		f->functions->items.items[id].total += count;
	}
}

static int by_self(const void *a, const void *b, void *arg)
{
	const struct function *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(profile_string(arg, x->name), profile_string(arg, y->name));
}

static int find(struct finder *f, enum view view, bool no_kernel)
{
	const struct timeline *timeline = &f->r->timeline;
	AUTO_FREE uint64_t *sums = calloc(f->r->nodes.n, sizeof(*sums));
	int err;

	f->by_frame = calloc(f->r->frames.n + 1, sizeof(*f->by_frame));
	if (!sums || !f->by_frame)
		return fail(-ENOMEM, "no memory for %zu frames", f->r->frames.n);
	err = find_all(f, no_kernel);
	for (size_t i = 0; i < timeline->sample_keys.n; i++)
		sums[f->r->stacks.items[timeline->sample_keys.items[i].a].node[view]] +=
			timeline->counts.items[i];
	for (uint32_t i = 1; !err && i < f->r->nodes.n; i++)
		if (sums[i])
			count_stack(f, i, sums[i]);
	return err;
}

int functions_find(struct functions *functions, const struct profile *profile,
		   enum view view, bool no_kernel)
{
	struct finder f = { .r = profile, .functions = functions };
	size_t kept = 0;
	int err;

	*functions = (struct functions){ .total = profile->timeline.total };
	err = find(&f, view, no_kernel);
	free(f.by_frame);
	pairs_free(&f.keys);
	vec_free(&f.last_seen);
	for (size_t i = 0; i < functions->items.n; i++)
		if (functions->items.items[i].total)
			functions->items.items[kept++] = functions->items.items[i];
	functions->items.n = kept;
	if (kept)
		qsort_r(functions->items.items, kept, sizeof(struct function), by_self,
			(void *)profile);
	return err;
}
