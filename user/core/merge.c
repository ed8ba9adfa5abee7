// SPDX-License-Identifier: BSD-2-Clause
#include "core/merge.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

/* Numbers of `from`, as they are in `into`. */
struct merger {
	struct reading *into;
	const struct reading *from;
	uint32_t *strings, *modules, *frames, *nodes, *stacks, *processes, *threads,
		*uses;
};

static int merge_strings(struct merger *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(m->from->strings); i++) {
		size_t n;
		const char *s = intern_bytes(m->from->strings, i, &n);

		err = reading_add_string(m->into, s, n, &m->strings[i]);
	}
	return err;
}

static int merge_frames(struct merger *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->from->modules.n; i++) {
		struct reading_module module = m->from->modules.items[i];

		module.path = m->strings[module.path];
		module.build_id = m->strings[module.build_id];
		err = reading_add_module(m->into, &module, &m->modules[i]);
	}
	for (size_t i = 0; !err && i < m->from->frames.n; i++) {
		struct reading_frame frame = m->from->frames.items[i];

		frame.module = m->modules[frame.module];
		frame.name = m->strings[frame.name];
		frame.file = m->strings[frame.file];
		err = reading_add_frame(m->into, &frame, &m->frames[i]);
	}
	return err;
}

static int merge_stacks(struct merger *m)
{
	int err = 0;

	m->nodes[0] = 0;
	for (size_t i = 1; !err && i < m->from->nodes.n; i++) {
		struct pair node = m->from->nodes.items[i];

		if (READING_IS_FRAME(node.b))
			node.b = m->frames[node.b];
		err = reading_add_node(m->into, m->nodes[node.a], node.b, &m->nodes[i]);
	}
	for (size_t i = 0; !err && i < m->from->stacks.n; i++) {
		struct reading_stack stack = m->from->stacks.items[i];

		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++)
			stack.node[view] = m->nodes[stack.node[view]];
		err = reading_add_stack(m->into, &stack, &m->stacks[i]);
	}
	return err;
}

static int merge_owners(struct merger *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->from->processes.n; i++) {
		struct reading_process process = m->from->processes.items[i];

		process.host = m->strings[process.host];
		process.name = m->strings[process.name];
		process.cgroup = m->strings[process.cgroup];
		err = reading_add_process(m->into, &process, &m->processes[i]);
	}
	for (size_t i = 0; !err && i < m->from->threads.n; i++) {
		struct reading_thread thread = m->from->threads.items[i];

		thread.process = m->processes[thread.process];
		thread.name = m->strings[thread.name];
		err = reading_add_thread(m->into, &thread, &m->threads[i]);
	}
	return err;
}

static int merge_undated(struct merger *m)
{
	const struct timeline *from = &m->from->timeline;
	AUTO_FREE uint64_t *dated = calloc(from->uses.n + 1, sizeof(*dated));

	if (!from->undated)
		return 0;
	if (!dated)
		return fail(-ENOMEM, "no memory for %zu uses", from->uses.n);
	timeline_dated(from, dated);
	for (size_t i = 0; i < from->uses.n; i++)
		if (m->uses[i] != UINT32_MAX)
			timeline_add_use_undated(&m->into->timeline, m->uses[i],
						 from->counts.items[i] - dated[i]);
	return 0;
}

static int merge_uses(struct merger *m)
{
	const struct timeline *from = &m->from->timeline;
	struct timeline *into = &m->into->timeline;
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = 0;

	for (size_t i = 0; err >= 0 && i < from->uses.n; i++) {
		struct pair use = { m->stacks[from->uses.items[i].a],
				    m->threads[from->uses.items[i].b] };

		err = use.a == READING_NO_STACK ? PAIRS_FULL
						: timeline_use(into, use, &m->uses[i]);
		if (err == PAIRS_FULL) {
			m->uses[i] = UINT32_MAX;
			into->refused += from->counts.items[i];
		}
	}
	while (err >= 0 && timeline_next(from, &at, &sample))
		if (m->uses[sample.use] != UINT32_MAX)
			err = timeline_add_use(into, sample.second, m->uses[sample.use],
					       sample.count);
	return err < 0 ? err : merge_undated(m);
}

static int merge_info(struct merger *m)
{
	const struct reading *from = m->from;
	int err = 0;

	for (size_t i = 0; !err && i < from->runs.n; i++) {
		struct reading_run run = from->runs.items[i];

		run.host = m->strings[run.host];
		run.kernel = m->strings[run.kernel];
		run.arch = m->strings[run.arch];
		run.command = m->strings[run.command];
		run.event = m->strings[run.event];
		err = reading_add_run(m->into, &run);
	}
	for (size_t i = 0; !err && i < from->ledger.n; i++)
		err = reading_add_count(m->into,
					reading_string(from, from->ledger.items[i].key),
					from->ledger.items[i].value);
	m->into->was_cut |= from->was_cut;
	m->into->left_out += from->left_out;
	return err;
}

/* The first one says what a count is, and whether a count has one weight. */
static int merge_values(struct merger *m)
{
	struct reading *into = m->into;
	const struct reading *from = m->from;
	bool first = !into->stacks.n && !into->runs.n;

	if (first) {
		into->value_type = m->strings[from->value_type];
		into->value_unit = m->strings[from->value_unit];
		into->period_ns = from->period_ns;
		into->one_view = from->one_view;
	}
	if (into->value_type != m->strings[from->value_type] ||
	    into->value_unit != m->strings[from->value_unit])
		return fail(-EINVAL,
			    "one file counts %s, another %s: weft can't add them up",
			    reading_string(into, into->value_type),
			    reading_string(from, from->value_type));
	into->one_view &= from->one_view;
	if (into->period_ns != from->period_ns)
		into->period_ns = 0;
	return 0;
}

static int merge(struct merger *m)
{
	int err = merge_strings(m);

	if (!err)
		err = merge_values(m);
	if (!err)
		err = merge_frames(m);
	if (!err)
		err = merge_stacks(m);
	if (!err)
		err = merge_owners(m);
	if (!err)
		err = merge_uses(m);
	return err ? err : merge_info(m);
}

/* One allocation for all of them. */
static size_t lay_out(struct merger *m, uint32_t *at)
{
	const struct reading *from = m->from;
	const struct {
		uint32_t **place;
		size_t n;
	} maps[] = {
		{ &m->strings, intern_count(from->strings) },
		{ &m->modules, from->modules.n },
		{ &m->frames, from->frames.n },
		{ &m->nodes, from->nodes.n },
		{ &m->stacks, from->stacks.n },
		{ &m->processes, from->processes.n },
		{ &m->threads, from->threads.n },
		{ &m->uses, from->timeline.uses.n },
	};
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		if (at)
			*maps[i].place = at + sum;
		sum += maps[i].n;
	}
	return sum;
}

int reading_merge(struct reading *into, const struct reading *from)
{
	struct merger m = { .into = into, .from = from };
	AUTO_FREE uint32_t *room = calloc(lay_out(&m, NULL), sizeof(*room));

	if (!room)
		return fail(-ENOMEM, "no memory to merge");
	lay_out(&m, room);
	return merge(&m);
}
