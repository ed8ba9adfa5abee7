// SPDX-License-Identifier: BSD-2-Clause
#include "report/late_inlines.h"

#include "base/error.h"
#include "core/aggregator.h"

#include <errno.h>
#include <string.h>

void late_inlines_free(struct late_inlines *inlines)
{
	vec_free(&inlines->chains);
	vec_free(&inlines->frames);
}

static int add_string(struct profile *r, const char *s, uint32_t *ret)
{
	return profile_add_string(r, s, strlen(s), ret);
}

static int set_line(struct profile *r, uint32_t id,
		    const struct source_location *location)
{
	uint32_t file;
	int err = add_string(r, location->file, &file);

	if (err)
		return err;
	r->frames.items[id].file = file;
	r->frames.items[id].line = location->line;
	return 0;
}

static int add_frame(struct late_inlines *inlines, struct profile *r, uint32_t within,
		     const struct source_location *location)
{
	struct profile_frame frame = r->frames.items[within];
	int err;

	frame.type = FRAME_TYPE_INLINED;
	frame.line = location->line;
	err = add_string(r, location->name, &frame.name);
	if (!err)
		err = add_string(r, location->file, &frame.file);
	if (!err)
		err = vec_push(&inlines->frames, (uint32_t)r->frames.n);
	/* as readers do, which give frames no ids to find them by */
	return err ? err : vec_push(&r->frames, frame);
}

int late_inlines_note(struct late_inlines *inlines, struct profile *r, uint32_t frame,
		      const struct source_location *locations, size_t n)
{
	struct late_chain chain = { frame, (uint32_t)n - 1, inlines->frames.n };
	int err = set_line(r, frame, &locations[n - 1]);

	if (r->frames.n + n > FRAMES_DISTINCT_MAX)
		chain.n = 0;
	for (size_t i = chain.n; !err && i-- > 0;)
		err = add_frame(inlines, r, frame, &locations[i]);
	return err || !chain.n ? err : vec_push(&inlines->chains, chain);
}

/* The node of a chain's innermost function above the node of its frame. */
static int add_chain(const struct late_inlines *inlines, struct profile *r,
		     const struct late_chain *chain, uint32_t *node)
{
	int err = 0;

	for (size_t i = 0; !err && i < chain->n; i++)
		err = profile_add_node(r, *node, inlines->frames.items[chain->first + i],
				       node);
	return err;
}

/* chain_of: by frame, 1 + its chain. Parents have smaller numbers, so a node's new one
 * is known before it is asked for. */
static int copy_tree(const struct late_inlines *inlines, struct profile *r,
		     const uint32_t *chain_of, uint32_t *copies)
{
	size_t n = r->nodes.n;
	int err = 0;

	for (uint32_t i = 1; !err && i < n; i++) {
		uint32_t code = profile_code(r, i);
		uint32_t chain = PROFILE_IS_FRAME(code) ? chain_of[code] : 0;

		err = profile_add_node(r, copies[profile_parent(r, i)], code, &copies[i]);
		if (!err && chain)
			err = add_chain(inlines, r, &inlines->chains.items[chain - 1],
					&copies[i]);
	}
	return err;
}

int late_inlines_apply(const struct late_inlines *inlines, struct profile *r)
{
	AUTO_FREE uint32_t *chain_of = calloc(r->frames.n + 1, sizeof(*chain_of));
	AUTO_FREE uint32_t *copies = calloc(r->nodes.n, sizeof(*copies));
	int err;

	if (!chain_of || !copies)
		return fail(-ENOMEM, "no memory for %zu nodes", r->nodes.n);
	if (!inlines->chains.n)
		return 0;
	for (size_t i = 0; i < inlines->chains.n; i++)
		chain_of[inlines->chains.items[i].frame] = (uint32_t)i + 1;
	err = copy_tree(inlines, r, chain_of, copies);
	for (size_t i = 0; !err && i < r->stacks.n; i++)
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++) {
			uint32_t *node = &r->stacks.items[i].node[view];

			*node = copies[*node];
		}
	return err;
}
