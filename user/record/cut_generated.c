// SPDX-License-Identifier: BSD-2-Clause
#include "record/cut_generated.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "record/runtimes.h"

#include <errno.h>
#include <stdlib.h>

#define CUT_OF_ASKED 4 /* one stack in so many is cut: who could be asked was asked */

/* Of a node: the generated code that its stack is cut in. Modules but these. */
#define WHOLE	 0
#define JUST_CUT UINT32_MAX

/* Of a node and its callers: modules of generated code. */
struct path {
	uint32_t cut_in; /* or one of the above */
	uint32_t last;	 /* WHOLE: there is none */
};

/* Samples, by module of generated code, so by process. */
struct tally {
	const struct name_ledger_source *source;
	uint64_t *cut, *all;
};

/* WHOLE: it is none. */
static uint32_t generated_by(const struct name_ledger_source *source, uint32_t code)
{
	uint32_t id;

	if (!PROFILE_IS_FRAME(code) ||
	    source->profile->frames.items[code].type == FRAME_TYPE_INLINED)
		return WHOLE;
	id = aggregator_frame(source->aggregator, code)->module;
	return module_get(source->modules, id)->kind == MODULE_JIT ? id : WHOLE;
}

static struct path look_at(const struct name_ledger_source *source, uint32_t code,
			   struct path above)
{
	uint32_t generated;

	if (code == VIEW_CUT)
		return (struct path){ JUST_CUT, above.last };
	generated = generated_by(source, code);
	return (struct path){
		.cut_in = above.cut_in == JUST_CUT ? generated : above.cut_in,
		.last = generated ? generated : above.last,
	};
}

/* What it took for a caller's frame is none. Who was still awaited, or changed meanwhile,
 * may keep frame pointers. */
static bool is_lost(const struct profile_stack *stack)
{
	uint32_t ending = STACK_ENDING(stack->notes, VIEW_THREAD);

	return ending == END_BROKEN || ending == END_UNREADABLE || ending == END_FP_ZERO;
}

static int count_samples(struct tally *tally)
{
	const struct profile *r = tally->source->profile;
	AUTO_FREE struct path *paths = calloc(r->nodes.n + 1, sizeof(*paths));

	if (!paths)
		return fail(-ENOMEM, "no memory for %zu nodes", (size_t)r->nodes.n);
	/* a caller's node is older than those of whom it called */
	for (uint32_t i = 1; i < r->nodes.n; i++)
		paths[i] = look_at(tally->source, profile_code(r, i),
				   paths[profile_parent(r, i)]);
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++) {
		const struct profile_stack *stack =
			&r->stacks.items[r->timeline.sample_keys.items[i].a];
		const struct path *path = &paths[stack->node[VIEW_THREAD]];
		uint64_t n = r->timeline.counts.items[i];

		tally->all[path->last] += n;
		if (path->cut_in != WHOLE && path->cut_in != JUST_CUT && is_lost(stack))
			tally->cut[path->cut_in] += n;
	}
	return 0;
}

static bool is_sampled(const void *arg, uint32_t module)
{
	const struct aggregator *aggregator = arg;
	size_t n = intern_count(aggregator->frames);

	for (uint32_t id = 0; id < n; id++)
		if (aggregator_frame(aggregator, id)->module == module)
			return true;
	return false;
}

/* Does its runtime name the code of this module? */
static bool is_named(const struct name_ledger_source *source, uint32_t module)
{
	size_t n = intern_count(source->aggregator->frames);

	for (uint32_t id = 0; id < n; id++)
		if (aggregator_frame(source->aggregator, id)->module == module &&
		    names_get(source->names, id))
			return true;
	return false;
}

/* What would keep frame pointers in this module, unless its process was asked already:
 * most of its stacks are whole, or it does what comes with them. */
static const char *asked_of(const struct tally *tally, uint32_t module)
{
	const struct name_ledger_source *source = tally->source;
	const char *option;

	if (tally->cut[module] * CUT_OF_ASKED <= tally->all[module])
		return NULL;
	option = runtime_find(&(struct runtime_search){
		.modules = source->modules,
		.pid = module_get(source->modules, module)->pid,
		.asked = runtime_that_keeps_fp,
		.is_sampled = is_sampled,
		.arg = source->aggregator,
	});
	return option && runtime_names_by(option) && is_named(source, module) ? NULL
									      : option;
}

int cut_generated_count(struct cut_generated *ret,
			const struct name_ledger_source *source)
{
	const struct module_table *modules = source->modules;
	AUTO_FREE uint64_t *cut = calloc(module_count(modules), sizeof(*cut));
	AUTO_FREE uint64_t *all = calloc(module_count(modules), sizeof(*all));
	struct tally tally = { source, cut, all };
	uint32_t worst = 0;
	int err;

	*ret = (struct cut_generated){ 0 };
	if (!cut || !all)
		return fail(-ENOMEM, "no memory for the modules");
	err = count_samples(&tally);
	if (err)
		return err;
	for (uint32_t id = 1; id < module_count(modules); id++) {
		ret->samples += cut[id];
		if (cut[id] > cut[worst])
			worst = id;
	}
	ret->asked = worst ? asked_of(&tally, worst) : NULL;
	return 0;
}
