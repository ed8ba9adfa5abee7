// SPDX-License-Identifier: BSD-2-Clause
#include "record/cut_generated.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "record/runtimes.h"

#include <errno.h>
#include <stdlib.h>

/* Of a node: the generated code that its stack is cut in. Modules but these. */
#define WHOLE	 0
#define JUST_CUT UINT32_MAX

struct tally {
	const struct name_ledger_source *source;
	uint64_t *samples; /* by module of generated code, so by process */
};

static uint32_t look_at(const struct name_ledger_source *source, uint32_t code,
			uint32_t above)
{
	uint32_t id;

	if (code == VIEW_CUT)
		return JUST_CUT;
	if (above != JUST_CUT || !PROFILE_IS_FRAME(code) ||
	    source->profile->frames.items[code].type == FRAME_TYPE_INLINED)
		return above == JUST_CUT ? WHOLE : above;
	id = aggregator_frame(source->aggregator, code)->module;
	return module_get(source->modules, id)->kind == MODULE_JIT ? id : WHOLE;
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
	AUTO_FREE uint32_t *cut_in = calloc(r->nodes.n + 1, sizeof(*cut_in));

	if (!cut_in)
		return fail(-ENOMEM, "no memory for %zu nodes", (size_t)r->nodes.n);
	/* a caller's node is older than those of whom it called */
	for (uint32_t i = 1; i < r->nodes.n; i++)
		cut_in[i] = look_at(tally->source, profile_code(r, i),
				    cut_in[profile_parent(r, i)]);
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++) {
		const struct profile_stack *stack =
			&r->stacks.items[r->timeline.sample_keys.items[i].a];
		uint32_t id = cut_in[stack->node[VIEW_THREAD]];

		if (id != WHOLE && id != JUST_CUT && is_lost(stack))
			tally->samples[id] += r->timeline.counts.items[i];
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

int cut_generated_count(struct cut_generated *ret,
			const struct name_ledger_source *source)
{
	const struct module_table *modules = source->modules;
	AUTO_FREE uint64_t *samples = calloc(module_count(modules), sizeof(*samples));
	struct tally tally = { source, samples };
	uint32_t worst = 0;
	int err;

	*ret = (struct cut_generated){ 0 };
	if (!samples)
		return fail(-ENOMEM, "no memory for the modules");
	err = count_samples(&tally);
	if (err)
		return err;
	for (uint32_t id = 1; id < module_count(modules); id++) {
		ret->samples += samples[id];
		if (samples[id] > samples[worst])
			worst = id;
	}
	if (worst)
		ret->asked = runtime_find(&(struct runtime_search){
			.modules = modules,
			.pid = module_get(modules, worst)->pid,
			.asked = runtime_that_keeps_fp,
			.is_sampled = is_sampled,
			.arg = source->aggregator,
		});
	return 0;
}
