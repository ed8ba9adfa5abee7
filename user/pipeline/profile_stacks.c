// SPDX-License-Identifier: BSD-2-Clause
/* The two views of each stack, as paths of the profile's tree. */
#include "pipeline/profile_builder_parts.h"

#include "base/error.h"
#include "core/view.h"

#include <errno.h>

/* What was inlined into a frame lies between it and the leaf. */
static int add_inlined(struct profile_builder *g, uint32_t code, uint32_t *node)
{
	uint32_t first = code < g->inlined.n ? g->inlined.items[code] : 0;
	size_t n = first ? names_n_locations(g->names, code) - 1 : 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++)
		err = profile_add_node(g->profile, *node, first + i, node);
	return err;
}

static int add_path(struct profile_builder *g, const uint32_t *codes, size_t n,
		    uint32_t *ret)
{
	int err = 0;

	*ret = 0;
	while (!err && n--) {
		err = profile_add_node(g->profile, *ret, codes[n], ret);
		if (!err)
			err = add_inlined(g, codes[n], ret);
	}
	return err;
}

/* A made stack's bottom that an unproven step led to may be anything: a step that went
 * wrong ends at what nobody called, too. A name says that it is one. */
static size_t doubt_bottom(const struct profile_builder *g, size_t n,
			   struct view_notes *notes)
{
	uint32_t last = n ? g->view[n - 1] : 0;

	if (notes->ending != END_FIBER ||
	    (n && g->names &&
	     (names_is_made_start(g->names, last) || names_is_start(g->names, last))))
		return n;
	for (size_t i = 0; i < n; i++) {
		if ((g->view[i] & CODE_KIND) != CODE_FRAME ||
		    !aggregator_frame(g->aggregator, g->view[i])->unproven)
			continue;
		notes->ending = END_BROKEN;
		notes->is_complete = false;
		g->view[n] = VIEW_CUT;
		return n + 1;
	}
	return n;
}

static int read_view(struct profile_builder *g, uint32_t id, enum view view,
		     struct profile_stack *stack)
{
	struct view_notes notes;
	size_t bytes, n;
	const uint32_t *codes = intern_bytes(g->aggregator->stacks, id, &bytes);

	n = bytes / sizeof(*codes);
	if (VIEW_ROOM(n) > g->view_room) {
		uint32_t *more =
			reallocarray(g->view, VIEW_ROOM(n), 2 * sizeof(*g->view));

		if (!more)
			return fail(-ENOMEM, "no memory for a stack of %zu", n);
		g->view = more;
		g->view_room = 2 * VIEW_ROOM(n);
	}
	n = view_read(&(struct view_stack){ codes, n, g->names },
		      view == VIEW_ASYNC && g->sources.no_labels ? VIEW_UNLABELLED : view,
		      g->view, &notes);
	n = doubt_bottom(g, n, &notes);
	if (notes.is_complete)
		stack->notes |= STACK_COMPLETE_ASYNC << view;
	if (notes.is_suspect)
		stack->notes |= STACK_SUSPECT_ASYNC << view;
	if (notes.has_gap)
		stack->notes |= STACK_GAP_ASYNC << view;
	stack->notes |= notes.ending << STACK_ENDING_SHIFT(view);
	for (size_t i = 0; i < n; i++)
		if ((g->view[i] & CODE_KIND) == VIEW_BOUNDARY)
			stack->notes |= STACK_ASYNC;
	return add_path(g, g->view, n, &stack->node[view]);
}

static int read_stack(struct profile_builder *g, uint32_t id, struct profile_stack *ret)
{
	size_t bytes;
	const uint32_t *codes = intern_bytes(g->aggregator->stacks, id, &bytes);
	int err = read_view(g, id, VIEW_ASYNC, ret);

	ret->hook = codes[STACK_HOOK];
	if (!err)
		err = profile_set_trace(
			g->profile,
			intern_bytes(g->aggregator->traces, codes[STACK_TRACE], &bytes),
			ret);
	return err ? err : read_view(g, id, VIEW_THREAD, ret);
}

int profile_stacks_add(struct profile_builder *g)
{
	int err = 0;

	for (uint32_t id = (uint32_t)g->profile->stacks.n;
	     !err && id < intern_count(g->aggregator->stacks); id++) {
		struct profile_stack stack = { 0 };

		err = read_stack(g, id, &stack);
		if (!err)
			err = vec_push(&g->profile->stacks, stack);
	}
	return err;
}

int profile_stacks_read_again(struct profile_builder *g)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < g->profile->stacks.n; id++) {
		struct profile_stack stack = { 0 };

		err = read_stack(g, id, &stack);
		g->profile->stacks.items[id] = stack;
	}
	return err;
}
