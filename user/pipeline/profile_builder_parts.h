/* SPDX-License-Identifier: BSD-2-Clause */
/* What the builder's own files share: profile_builder.c takes over what the aggregator
 * has by numbers, profile_stacks.c reads both views of each stack, profile_names.c names
 * the frames. */
#ifndef WEFT_PIPELINE_PROFILE_BUILDER_PARTS_H
#define WEFT_PIPELINE_PROFILE_BUILDER_PARTS_H

#include "base/vec.h"
#include "core/aggregator.h"
#include "pipeline/profile_builder.h"

#include <string.h>

/* A module of the profile; its number may be another's by now. */
struct gathered {
	uint32_t id;
	uint64_t serial;
};

struct profile_builder {
	struct profile *profile;
	struct aggregator *aggregator;
	const struct module_table *modules;
	struct profile_sources sources;
	const struct names *names;     /* once they are known */
	VEC(struct gathered) gathered; /* by the profile's number of the module */
	VEC(uint32_t) numbers; /* the profile's, by module id; checked by serial */
	VEC(uint32_t) comms;   /* string by comm id */
	VEC(uint32_t) inlined; /* by frame: its outermost inlined one's number; 0 */
	uint32_t *view;	       /* room for one */
	size_t view_room;
};

static inline int profile_builder_text(struct profile_builder *g, const char *text,
				       uint32_t *ret)
{
	return profile_add_string(g->profile, text, strlen(text), ret);
}

/* Of those stacks that were not read yet. */
int profile_stacks_add(struct profile_builder *builder);
/* Again, since there are names now: a walk that had lost its way ends earlier. */
int profile_stacks_read_again(struct profile_builder *builder);

/* Names and source locations of all frames; a frame more for each inlined function. */
int profile_names_set(struct profile_builder *builder);

#endif
