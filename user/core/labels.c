// SPDX-License-Identifier: BSD-2-Clause
#include "core/labels.h"

#include "base/error.h"

#include <errno.h>

/* The same node where nothing towards the root of it is left out; else its like. */
static int find_like(struct profile *r, uint32_t node, const uint32_t *likes,
		     uint32_t *ret)
{
	const struct profile_frame *frame = profile_node_frame(r, node);
	uint32_t parent = profile_parent(r, node), like = likes[parent];

	*ret = like;
	if (frame && frame->type == FRAME_TYPE_LABEL)
		return 0;
	if (like != parent)
		return profile_add_node(r, like, profile_code(r, node), ret);
	*ret = node;
	return 0;
}

int profile_drop_labels(struct profile *r)
{
	size_t n_nodes = r->nodes.n;
	AUTO_FREE uint32_t *likes = calloc(n_nodes + 1, sizeof(*likes));
	int err = 0;

	if (!likes)
		return fail(-ENOMEM, "no memory for %zu places in stacks", n_nodes);
	for (uint32_t node = 1; !err && node < n_nodes; node++)
		err = find_like(r, node, likes, &likes[node]);
	for (size_t i = 0; !err && i < r->stacks.n; i++)
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++)
			r->stacks.items[i].node[view] =
				likes[r->stacks.items[i].node[view]];
	return err;
}
