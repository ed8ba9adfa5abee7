// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/profile_builder_parts.h"

#include "base/error.h"

#include <errno.h>

#define BUILD_ID_TEXT 128

void profile_builder_free(struct profile_builder *g)
{
	if (!g)
		return;
	profile_free(g->profile);
	vec_free(&g->gathered);
	vec_free(&g->numbers);
	vec_free(&g->comms);
	vec_free(&g->inlined);
	free(g->view);
	free(g);
}

int profile_builder_new(struct profile_builder **ret, struct aggregator *aggregator,
			const struct module_table *modules)
{
	AUTO(profile_builder) g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return fail(-ENOMEM, "no memory for a profile");
	g->aggregator = aggregator;
	g->modules = modules;
	err = profile_new(&g->profile);
	if (!err) /* nowhere is number 0 in both */
		err = vec_push(&g->gathered,
			       (struct gathered){ MODULE_ID_UNMAPPED,
						  module_serial(modules, 0) });
	if (!err)
		err = vec_push(&g->numbers, 0);
	if (err)
		return err;
	*ret = GIVE(g);
	return 0;
}

void profile_builder_set_sources(struct profile_builder *g,
				 const struct profile_sources *sources)
{
	g->sources = *sources;
}

struct profile *profile_builder_profile(struct profile_builder *g)
{
	return g->profile;
}

static const char *module_text(const struct module *module)
{
	switch (module->kind) {
	case MODULE_KERNEL:
		return "[kernel]";
	case MODULE_VDSO:
		return "[vdso]";
	case MODULE_JIT:
	case MODULE_FILE:
		return module->path;
	default:
		return "";
	}
}

static bool is_gathered(const struct profile_builder *g, uint32_t id)
{
	return id < g->numbers.n && g->gathered.items[g->numbers.items[id]].serial ==
					    module_serial(g->modules, id);
}

static int add_module(struct profile_builder *g, uint32_t id)
{
	const struct gathered gathered = { id, module_serial(g->modules, id) };
	struct profile_module module = { 0 };
	int err = 0;

	if (is_gathered(g, id))
		return 0;
	while (!err && g->numbers.n <= id)
		err = vec_push(&g->numbers, 0);
	if (!err && g->profile->modules.n >= MODULES_MAX) {
		g->numbers.items[id] = 0; /* which is nowhere */
		return 0;
	}
	if (!err)
		err = profile_builder_text(g, module_text(module_get(g->modules, id)),
					   &module.path);
	if (!err)
		err = vec_push(&g->gathered, gathered);
	if (err)
		return err;
	g->numbers.items[id] = (uint32_t)g->profile->modules.n;
	return vec_push(&g->profile->modules, module);
}

/* Those that no sample met, too, as long as they are few: a recording may see more of
 * them than its readers take. */
static int add_modules(struct profile_builder *g)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < module_count(g->modules) &&
			      g->profile->modules.n < MODULES_MAX / 2;
	     id++)
		if (module_serial(g->modules, id))
			err = add_module(g, id);
	return err;
}

static enum frame_type frame_type_of(const struct module *module)
{
	static const enum frame_type types[] = {
		[MODULE_UNMAPPED] = FRAME_TYPE_UNKNOWN,
		[MODULE_KERNEL] = FRAME_TYPE_KERNEL,
		[MODULE_FILE] = FRAME_TYPE_NATIVE,
		[MODULE_VDSO] = FRAME_TYPE_NATIVE,
		[MODULE_JIT] = FRAME_TYPE_JIT,
	};

	return types[module->kind];
}

static int add_frames(struct profile_builder *g)
{
	int err = 0;

	for (uint32_t id = (uint32_t)g->profile->frames.n;
	     !err && id < intern_count(g->aggregator->frames); id++) {
		const struct frame *from = aggregator_frame(g->aggregator, id);
		struct profile_frame frame = {
			.offset = from->offset,
			.type = frame_type_of(module_get(g->modules, from->module)),
			.returned = from->returned == 1,
		};

		/* no address of the kernel's leaves; a label has none */
		if (from->returned == FRAME_IS_LABEL)
			frame.type = FRAME_TYPE_LABEL;
		if (frame.type == FRAME_TYPE_KERNEL || frame.type == FRAME_TYPE_LABEL)
			frame.offset = 0;
		err = add_module(g, from->module);
		frame.module = g->numbers.items[from->module];
		if (!err)
			err = vec_push(&g->profile->frames, frame);
	}
	return err;
}

/* After its first thread, as it is called now; "": that is not known. */
static const char *process_name(const struct profile_builder *g,
				const struct aggregator_process *of)
{
	const struct process *process =
		g->sources.processes ? process_get(g->sources.processes, of->tgid) : NULL;

	return process && process->incarnation == of->incarnation ? process->comm : "";
}

static int add_processes(struct profile_builder *g)
{
	struct profile *r = g->profile;
	int err = 0;

	for (uint32_t id = (uint32_t)r->processes.n;
	     !err && id < intern_count(g->aggregator->processes); id++) {
		size_t bytes;
		const struct aggregator_process *from =
			intern_bytes(g->aggregator->processes, id, &bytes);
		struct profile_process process = { .host = g->sources.host,
						   .pid = from->tgid,
						   .incarnation = from->incarnation };
		const char *cgroup =
			g->sources.cgroup ? g->sources.cgroup(g->sources.arg, id) : NULL;

		if (cgroup)
			err = profile_builder_text(g, cgroup, &process.cgroup);
		if (!err)
			err = profile_builder_text(g, process_name(g, from),
						   &process.name);
		if (!err)
			err = vec_push(&r->processes, process);
	}
	return err;
}

static int add_comms(struct profile_builder *g)
{
	int err = 0;

	while (!err && g->comms.n < intern_count(g->aggregator->comms)) {
		uint32_t name;

		err = profile_builder_text(
			g, intern_string(g->aggregator->comms, (uint32_t)g->comms.n),
			&name);
		if (!err)
			err = vec_push(&g->comms, name);
	}
	return err;
}

static int add_threads(struct profile_builder *g)
{
	struct profile *r = g->profile;
	int err = add_comms(g);

	for (uint32_t id = (uint32_t)r->threads.n;
	     !err && id < intern_count(g->aggregator->threads); id++) {
		size_t bytes;
		const struct aggregator_thread *from =
			intern_bytes(g->aggregator->threads, id, &bytes);
		struct profile_thread thread = { .process = from->process,
						 .tid = from->tid,
						 .name = g->comms.items[from->comm] };
		struct profile_process *process = &r->processes.items[from->process];

		if (from->process && !process->name)
			process->name = thread.name;
		err = vec_push(&r->threads, thread);
	}
	return err;
}

/* All but the stacks that they are in. */
static int add_parts(struct profile_builder *g)
{
	int err = g->sources.all_modules ? add_modules(g) : 0;

	if (!err)
		err = add_frames(g);
	if (!err)
		err = add_processes(g);
	return err ? err : add_threads(g);
}

int profile_builder_update(struct profile_builder *g)
{
	int err = add_parts(g);

	return err ? err : profile_stacks_add(g);
}

/* Names say where some stacks end, so those from before are read again. */
static int set_names(struct profile_builder *g, const struct names *names)
{
	int err;

	g->names = names;
	err = profile_names_set(g);
	return err ? err : profile_stacks_read_again(g);
}

static int set_build_ids(struct profile_builder *g)
{
	struct profile *r = g->profile;
	int err = 0;

	for (uint32_t i = 0; !err && g->sources.build_id && i < r->modules.n; i++) {
		const struct gathered *module = &g->gathered.items[i];
		char text[BUILD_ID_TEXT] = "";

		if (module_serial(g->modules, module->id) != module->serial)
			continue;
		g->sources.build_id(g->sources.arg, module->id, text, sizeof(text));
		if (g->sources.bias)
			r->modules.items[i].bias =
				g->sources.bias(g->sources.arg, module->id);
		if (*text)
			err = profile_builder_text(g, text,
						   &r->modules.items[i].build_id);
	}
	return err;
}

int profile_builder_finish(struct profile_builder *g, const struct names *names)
{
	int err = add_parts(g);

	if (!err && names)
		err = set_names(g, names);
	if (!err)
		err = profile_stacks_add(g);
	if (!err)
		err = set_build_ids(g);
	if (!err)
		err = timeline_flush(&g->aggregator->timeline);
	if (err)
		return err;
	g->aggregator->samples.refused += g->aggregator->timeline.refused;
	g->profile->timeline = g->aggregator->timeline;
	g->aggregator->timeline = (struct timeline){ 0 };
	return profile_finish(g->profile);
}
