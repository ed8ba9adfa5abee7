/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a profile out of an aggregator (core/profile.h). It can be asked for more and
 * more while the aggregator grows: what was taken over keeps its numbers, which are
 * the aggregator's own for frames, stacks, processes and threads; modules, whose
 * numbers may be given again, have their own. Names come last, and with them the
 * views are read once more, since names say where a walk had lost its way.
 */
#ifndef WEFT_PIPELINE_PROFILE_BUILDER_H
#define WEFT_PIPELINE_PROFILE_BUILDER_H

#include "core/module.h"
#include "core/names.h"
#include "core/profile.h"
#include "proc/process.h"

struct profile_builder;

/* What only the machine can tell; each may be NULL. */
struct profile_sources {
	void *arg;
	/* Lower hex into out, or leaves it empty. */
	void (*build_id)(void *arg, uint32_t module, char *out, size_t room);
	uint64_t (*bias)(void *arg, uint32_t module); /* as core/profile.h has it */
	const char *(*cgroup)(void *arg, uint32_t process);
	const struct process_table *processes; /* what they are called */
	uint32_t host;			       /* string of the profile; 0: not known */
	bool no_labels;
	bool all_modules; /* also those that no frame lies in */
};

/* aggregator, modules are borrowed and outlive the builder. */
int profile_builder_new(struct profile_builder **ret, struct aggregator *aggregator,
			const struct module_table *modules);
/* Before the first update. */
void profile_builder_set_sources(struct profile_builder *builder,
				 const struct profile_sources *sources);
void profile_builder_free(struct profile_builder *builder);
DEFINE_FREEP(profile_builder)

/* What came to the aggregator since; frames have no names yet. */
int profile_builder_update(struct profile_builder *builder);

/* Everything that is left, the names, and the timeline, which the aggregator loses. */
int profile_builder_finish(struct profile_builder *builder, const struct names *names);

/* Borrowed; good as long as the builder is. */
struct profile *profile_builder_profile(struct profile_builder *builder);

#endif
