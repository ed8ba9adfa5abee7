/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live profile as a reading (core/reading.h). It can be asked for more and
 * more while the profile grows: what was gathered keeps its numbers, which are
 * the profile's own for frames, stacks, processes and threads; modules, whose
 * numbers may be given again, have their own. Names come last, and with them the
 * views are read once more, since names say where a walk had lost its way.
 */
#ifndef WEFT_PIPELINE_GATHER_H
#define WEFT_PIPELINE_GATHER_H

#include "core/module.h"
#include "core/names.h"
#include "core/reading.h"

struct gather;

/* What only the machine can tell; each may be NULL. */
struct gather_sources {
	void *arg;
	/* Lower hex into out, or leaves it empty. */
	void (*build_id)(void *arg, uint32_t module, char *out, size_t room);
	const char *(*cgroup)(void *arg, uint32_t process);
	uint32_t host; /* string of the reading; 0: not known */
	bool no_labels;
	bool all_modules; /* also those that no frame lies in */
};

/* profile, modules are borrowed and outlive the gathering. */
int gather_new(struct gather **ret, struct profile *profile,
	       const struct module_table *modules);
/* Before anything is gathered. */
void gather_ask(struct gather *gather, const struct gather_sources *sources);
void gather_free(struct gather *gather);
DEFINE_FREEP(gather)

/* What came to the profile since; frames have no names yet. */
int gather_more(struct gather *gather);

/* Everything that is left, the names, and the timeline, which the profile loses. */
int gather_finish(struct gather *gather, const struct names *names);

/* Borrowed; good as long as the gathering is. */
struct reading *gather_reading(struct gather *gather);

#endif
