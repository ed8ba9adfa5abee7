// SPDX-License-Identifier: BSD-2-Clause
/* What the frames are called, and where in the source they are. */
#include "pipeline/profile_builder_parts.h"

static int set_names(struct profile_builder *g)
{
	struct profile *r = g->profile;
	int err = 0;

	for (uint32_t id = 0; !err && id < r->frames.n; id++) {
		const char *name = names_get(g->names, id);

		if (name)
			err = profile_builder_text(g, name, &r->frames.items[id].name);
	}
	return err;
}

static int set_location(struct profile_builder *g, const struct names_location *location,
			struct profile_frame *frame)
{
	int err = 0;

	if (*location->name)
		err = profile_builder_text(g, location->name, &frame->name);
	frame->line = location->line;
	return err ? err : profile_builder_text(g, location->file, &frame->file);
}

/* A frame's own line, and a frame more for each function that was inlined, from the
 * outermost on. */
static int set_locations(struct profile_builder *g, uint32_t id)
{
	struct profile *r = g->profile;
	size_t n = names_n_locations(g->names, id);
	struct names_location location;
	int err;

	if (!n)
		return vec_push(&g->inlined, 0);
	location = names_location(g->names, id, n - 1);
	err = set_location(g, &location, &r->frames.items[id]);
	if (!err)
		err = vec_push(&g->inlined, n > 1 ? (uint32_t)r->frames.n : 0);
	for (size_t i = n - 1; !err && i--;) {
		struct profile_frame frame = r->frames.items[id];

		location = names_location(g->names, id, i);
		frame.name = 0;
		frame.type = FRAME_TYPE_INLINED;
		err = set_location(g, &location, &frame);
		if (!err)
			err = vec_push(&r->frames, frame);
	}
	return err;
}

static int set_all_locations(struct profile_builder *g)
{
	size_t n = g->profile->frames.n;
	int err = 0;

	for (uint32_t id = 0; !err && id < n; id++)
		if (g->profile->frames.n < FRAMES_DISTINCT_MAX)
			err = set_locations(g, id);
	return err;
}

int profile_names_set(struct profile_builder *g)
{
	int err = set_names(g);

	return err ? err : set_all_locations(g);
}
