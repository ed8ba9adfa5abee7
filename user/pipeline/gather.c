// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/gather.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define BUILD_ID_TEXT 128

struct gather {
	struct reading *reading;
	struct profile *profile;
	const struct module_table *modules;
	struct gather_sources sources;
	const struct names *names; /* once they are known */
	VEC(uint32_t) comms;	   /* string by comm id */
	VEC(uint32_t) inlined;	   /* by frame: its outermost inlined one's number; 0 */
	uint32_t *view;		   /* room for one */
	size_t view_room;
};

void gather_free(struct gather *g)
{
	if (!g)
		return;
	reading_free(g->reading);
	vec_free(&g->comms);
	vec_free(&g->inlined);
	free(g->view);
	free(g);
}

int gather_new(struct gather **ret, struct profile *profile,
	       const struct module_table *modules)
{
	AUTO(gather) g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return fail(-ENOMEM, "no memory for a reading");
	g->profile = profile;
	g->modules = modules;
	err = reading_new(&g->reading);
	if (err)
		return err;
	*ret = GIVE(g);
	return 0;
}

void gather_ask(struct gather *g, const struct gather_sources *sources)
{
	g->sources = *sources;
}

struct reading *gather_reading(struct gather *g)
{
	return g->reading;
}

static int add_text(struct gather *g, const char *text, uint32_t *ret)
{
	return reading_add_string(g->reading, text, strlen(text), ret);
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

/* Module ids are the table's: its 0 is nowhere, too. */
static int add_modules(struct gather *g)
{
	int err = 0;

	for (uint32_t id = (uint32_t)g->reading->modules.n;
	     !err && id < module_count(g->modules); id++) {
		struct reading_module module = { 0 };

		err = add_text(g, module_text(module_get(g->modules, id)), &module.path);
		if (!err)
			err = vec_push(&g->reading->modules, module);
	}
	return err;
}

static enum place place_of(const struct module *module)
{
	static const enum place places[] = {
		[MODULE_UNMAPPED] = PLACE_UNKNOWN, [MODULE_KERNEL] = PLACE_KERNEL,
		[MODULE_FILE] = PLACE_NATIVE,	   [MODULE_VDSO] = PLACE_NATIVE,
		[MODULE_JIT] = PLACE_JIT,
	};

	return places[module->kind];
}

static int add_frames(struct gather *g)
{
	int err = 0;

	for (uint32_t id = (uint32_t)g->reading->frames.n;
	     !err && id < intern_count(g->profile->frames); id++) {
		const struct frame *from = profile_frame(g->profile, id);
		struct reading_frame frame = {
			.offset = from->offset,
			.module = from->module,
			.place = place_of(module_get(g->modules, from->module)),
			.returned = from->returned == 1,
		};

		/* no address of the kernel's leaves; a label has none */
		if (from->returned == FRAME_IS_LABEL)
			frame.place = PLACE_LABEL;
		if (frame.place == PLACE_KERNEL || frame.place == PLACE_LABEL)
			frame.offset = 0;
		err = vec_push(&g->reading->frames, frame);
	}
	return err;
}

static int add_processes(struct gather *g)
{
	struct reading *r = g->reading;
	int err = 0;

	for (uint32_t id = (uint32_t)r->processes.n;
	     !err && id < intern_count(g->profile->processes); id++) {
		size_t bytes;
		const struct profile_process *from =
			intern_bytes(g->profile->processes, id, &bytes);
		struct reading_process process = { .host = g->sources.host,
						   .pid = from->tgid,
						   .life = from->life };
		const char *cgroup =
			g->sources.cgroup ? g->sources.cgroup(g->sources.arg, id) : NULL;

		if (cgroup)
			err = add_text(g, cgroup, &process.cgroup);
		if (!err)
			err = vec_push(&r->processes, process);
	}
	return err;
}

static int add_comms(struct gather *g)
{
	int err = 0;

	while (!err && g->comms.n < intern_count(g->profile->comms)) {
		uint32_t name;

		err = add_text(g, intern_string(g->profile->comms, (uint32_t)g->comms.n),
			       &name);
		if (!err)
			err = vec_push(&g->comms, name);
	}
	return err;
}

static int add_threads(struct gather *g)
{
	struct reading *r = g->reading;
	int err = add_comms(g);

	for (uint32_t id = (uint32_t)r->threads.n;
	     !err && id < intern_count(g->profile->threads); id++) {
		size_t bytes;
		const struct profile_thread *from =
			intern_bytes(g->profile->threads, id, &bytes);
		struct reading_thread thread = { .process = from->process,
						 .tid = from->tid,
						 .name = g->comms.items[from->comm] };
		struct reading_process *process = &r->processes.items[from->process];

		if (from->process && !process->name)
			process->name = thread.name;
		err = vec_push(&r->threads, thread);
	}
	return err;
}

/* What was inlined into a frame lies between it and the leaf. */
static int add_inlined(struct gather *g, uint32_t code, uint32_t *node)
{
	uint32_t first = code < g->inlined.n ? g->inlined.items[code] : 0;
	size_t n = first ? names_places(g->names, code) - 1 : 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++)
		err = reading_add_node(g->reading, *node, first + i, node);
	return err;
}

static int add_path(struct gather *g, const uint32_t *codes, size_t n, uint32_t *ret)
{
	int err = 0;

	*ret = 0;
	while (!err && n--) {
		err = reading_add_node(g->reading, *ret, codes[n], ret);
		if (!err)
			err = add_inlined(g, codes[n], ret);
	}
	return err;
}

static int read_view(struct gather *g, uint32_t id, enum view view,
		     struct reading_stack *stack)
{
	struct view_notes notes;
	size_t bytes, n;
	const uint32_t *codes = intern_bytes(g->profile->stacks, id, &bytes);

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
	if (notes.whole)
		stack->notes |= STACK_WHOLE_ASYNC << view;
	if (notes.doubted)
		stack->notes |= STACK_DOUBTED_ASYNC << view;
	if (notes.has_gap)
		stack->notes |= STACK_GAP_ASYNC << view;
	stack->notes |= notes.ending << STACK_ENDING_SHIFT(view);
	for (size_t i = 0; i < n; i++)
		if ((g->view[i] & CODE_KIND) == VIEW_BOUNDARY)
			stack->notes |= STACK_ASYNC;
	return add_path(g, g->view, n, &stack->node[view]);
}

static int read_stack(struct gather *g, uint32_t id, struct reading_stack *ret)
{
	int err = read_view(g, id, VIEW_ASYNC, ret);

	return err ? err : read_view(g, id, VIEW_THREAD, ret);
}

static int add_stacks(struct gather *g)
{
	int err = 0;

	for (uint32_t id = (uint32_t)g->reading->stacks.n;
	     !err && id < intern_count(g->profile->stacks); id++) {
		struct reading_stack stack = { 0 };

		err = read_stack(g, id, &stack);
		if (!err)
			err = vec_push(&g->reading->stacks, stack);
	}
	return err;
}

int gather_more(struct gather *g)
{
	int err = add_modules(g);

	if (!err)
		err = add_frames(g);
	if (!err)
		err = add_processes(g);
	if (!err)
		err = add_threads(g);
	return err ? err : add_stacks(g);
}

/* With names, a walk that had lost its way ends earlier. */
static int read_again(struct gather *g)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < g->reading->stacks.n; id++) {
		struct reading_stack stack = { 0 };

		err = read_stack(g, id, &stack);
		g->reading->stacks.items[id] = stack;
	}
	return err;
}

static int set_names(struct gather *g)
{
	struct reading *r = g->reading;
	int err = 0;

	for (uint32_t id = 0; !err && id < r->frames.n; id++) {
		const char *name = names_get(g->names, id);

		if (name)
			err = add_text(g, name, &r->frames.items[id].name);
	}
	return err;
}

static int set_place(struct gather *g, const struct names_place *place,
		     struct reading_frame *frame)
{
	int err = 0;

	if (*place->name)
		err = add_text(g, place->name, &frame->name);
	frame->line = place->line;
	return err ? err : add_text(g, place->file, &frame->file);
}

/* A frame's own line, and a frame more for each function that was inlined, from the
 * outermost on. */
static int set_places(struct gather *g, uint32_t id)
{
	struct reading *r = g->reading;
	size_t n = names_places(g->names, id);
	struct names_place place;
	int err;

	if (!n)
		return vec_push(&g->inlined, 0);
	place = names_place(g->names, id, n - 1);
	err = set_place(g, &place, &r->frames.items[id]);
	if (!err)
		err = vec_push(&g->inlined, n > 1 ? (uint32_t)r->frames.n : 0);
	for (size_t i = n - 1; !err && i--;) {
		struct reading_frame frame = r->frames.items[id];

		place = names_place(g->names, id, i);
		frame.name = 0;
		frame.place = PLACE_INLINED;
		err = set_place(g, &place, &frame);
		if (!err)
			err = vec_push(&r->frames, frame);
	}
	return err;
}

static int set_all_places(struct gather *g)
{
	size_t n = g->reading->frames.n;
	int err = 0;

	for (uint32_t id = 0; !err && id < n; id++)
		if (g->reading->frames.n < FRAMES_DISTINCT_MAX)
			err = set_places(g, id);
	return err;
}

static int set_build_ids(struct gather *g)
{
	struct reading *r = g->reading;
	int err = 0;

	for (uint32_t id = 0; !err && g->sources.build_id && id < r->modules.n; id++) {
		char text[BUILD_ID_TEXT] = "";

		g->sources.build_id(g->sources.arg, id, text, sizeof(text));
		if (*text)
			err = add_text(g, text, &r->modules.items[id].build_id);
	}
	return err;
}

int gather_finish(struct gather *g, const struct names *names)
{
	int err = gather_more(g);

	g->names = names;
	if (!err && names)
		err = set_names(g);
	if (!err && names)
		err = set_all_places(g);
	if (!err && names)
		err = read_again(g);
	if (!err)
		err = set_build_ids(g);
	if (!err)
		err = timeline_flush(&g->profile->timeline);
	if (err)
		return err;
	g->profile->samples.refused += g->profile->timeline.refused;
	g->reading->timeline = g->profile->timeline;
	g->profile->timeline = (struct timeline){ 0 };
	return reading_finish(g->reading);
}
