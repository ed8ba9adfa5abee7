// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/profile_builder.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define BUILD_ID_TEXT 128

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

static int add_text(struct profile_builder *g, const char *text, uint32_t *ret)
{
	return profile_add_string(g->profile, text, strlen(text), ret);
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
		err = add_text(g, module_text(module_get(g->modules, id)), &module.path);
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
			err = add_text(g, cgroup, &process.cgroup);
		if (!err)
			err = add_text(g, process_name(g, from), &process.name);
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

		err = add_text(g,
			       intern_string(g->aggregator->comms, (uint32_t)g->comms.n),
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
	if (notes->ending != END_FIBER ||
	    (n && g->names && names_is_made_start(g->names, g->view[n - 1])))
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

static int add_stacks(struct profile_builder *g)
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

int profile_builder_update(struct profile_builder *g)
{
	int err = g->sources.all_modules ? add_modules(g) : 0;

	if (!err)
		err = add_frames(g);
	if (!err)
		err = add_processes(g);
	if (!err)
		err = add_threads(g);
	return err ? err : add_stacks(g);
}

/* With names, a walk that had lost its way ends earlier. */
static int read_again(struct profile_builder *g)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < g->profile->stacks.n; id++) {
		struct profile_stack stack = { 0 };

		err = read_stack(g, id, &stack);
		g->profile->stacks.items[id] = stack;
	}
	return err;
}

static int set_names(struct profile_builder *g)
{
	struct profile *r = g->profile;
	int err = 0;

	for (uint32_t id = 0; !err && id < r->frames.n; id++) {
		const char *name = names_get(g->names, id);

		if (name)
			err = add_text(g, name, &r->frames.items[id].name);
	}
	return err;
}

static int set_location(struct profile_builder *g, const struct names_location *location,
			struct profile_frame *frame)
{
	int err = 0;

	if (*location->name)
		err = add_text(g, location->name, &frame->name);
	frame->line = location->line;
	return err ? err : add_text(g, location->file, &frame->file);
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
			err = add_text(g, text, &r->modules.items[i].build_id);
	}
	return err;
}

int profile_builder_finish(struct profile_builder *g, const struct names *names)
{
	int err = profile_builder_update(g);

	g->names = names;
	if (!err && names)
		err = set_names(g);
	if (!err && names)
		err = set_all_locations(g);
	if (!err && names)
		err = read_again(g);
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
