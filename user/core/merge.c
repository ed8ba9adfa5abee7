// SPDX-License-Identifier: BSD-2-Clause
#include "core/merge.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

/* Numbers of `from`, as they are in `into`. */
struct merger {
	struct profile *into;
	const struct profile *from;
	uint32_t *strings, *modules, *frames, *nodes, *attributes, *stacks, *processes,
		*threads, *sample_keys;
};

static int merge_strings(struct merger *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(m->from->strings); i++) {
		size_t n;
		const char *s = intern_bytes(m->from->strings, i, &n);

		err = profile_add_string(m->into, s, n, &m->strings[i]);
	}
	return err;
}

static int merge_frames(struct merger *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->from->modules.n; i++) {
		struct profile_module module = m->from->modules.items[i];

		module.path = m->strings[module.path];
		module.build_id = m->strings[module.build_id];
		err = profile_add_module(m->into, &module, &m->modules[i]);
	}
	for (size_t i = 0; !err && i < m->from->frames.n; i++) {
		struct profile_frame frame = m->from->frames.items[i];

		frame.module = m->modules[frame.module];
		frame.name = m->strings[frame.name];
		frame.file = m->strings[frame.file];
		err = profile_add_frame(m->into, &frame, &m->frames[i]);
	}
	return err;
}

static int merge_attributes(struct merger *m)
{
	int err = 0;

	for (size_t i = 1; !err && i < m->from->attributes.n; i++) {
		struct profile_attribute attribute = m->from->attributes.items[i];

		attribute.key = m->strings[attribute.key];
		attribute.value = m->strings[attribute.value];
		attribute.next = m->attributes[attribute.next];
		err = profile_add_attribute(m->into, &attribute, &m->attributes[i]);
	}
	return err;
}

static int merge_stacks(struct merger *m)
{
	int err = 0;

	m->nodes[0] = 0;
	for (size_t i = 1; !err && i < m->from->nodes.n; i++) {
		struct pair node = m->from->nodes.items[i];

		if (PROFILE_IS_FRAME(node.b))
			node.b = m->frames[node.b];
		err = profile_add_node(m->into, m->nodes[node.a], node.b, &m->nodes[i]);
	}
	for (size_t i = 0; !err && i < m->from->stacks.n; i++) {
		struct profile_stack stack = m->from->stacks.items[i];

		stack.trace = m->strings[stack.trace];
		stack.span = m->strings[stack.span];
		stack.attributes = m->attributes[stack.attributes];
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++)
			stack.node[view] = m->nodes[stack.node[view]];
		err = profile_add_stack(m->into, &stack, &m->stacks[i]);
	}
	return err;
}

static int merge_owners(struct merger *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->from->processes.n; i++) {
		struct profile_process process = m->from->processes.items[i];

		process.host = m->strings[process.host];
		process.name = m->strings[process.name];
		process.cgroup = m->strings[process.cgroup];
		err = profile_add_process(m->into, &process, &m->processes[i]);
	}
	for (size_t i = 0; !err && i < m->from->threads.n; i++) {
		struct profile_thread thread = m->from->threads.items[i];

		thread.process = m->processes[thread.process];
		thread.name = m->strings[thread.name];
		err = profile_add_thread(m->into, &thread, &m->threads[i]);
	}
	return err;
}

/* What is usual there is said here, where something else is. */
static struct timeline_amount weighed(const struct merger *m,
				      struct timeline_amount amount)
{
	if (!m->into->period_ns)
		amount.weight_ns = 0;
	else if (!amount.weight_ns && m->from->period_ns != m->into->period_ns)
		amount.weight_ns = timeline_times(amount.count, m->from->period_ns);
	return amount;
}

static int merge_undated(void *arg, uint32_t sample_key, struct timeline_amount amount)
{
	const struct merger *m = arg;

	if (m->sample_keys[sample_key] == UINT32_MAX)
		return 0;
	return timeline_add_undated_by_key(&m->into->timeline, m->sample_keys[sample_key],
					   weighed(m, amount));
}

static int merge_uses(struct merger *m)
{
	const struct timeline *from = &m->from->timeline;
	struct timeline *into = &m->into->timeline;
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = 0;

	for (size_t i = 0; err >= 0 && i < from->sample_keys.n; i++) {
		struct pair sample_key = { m->stacks[from->sample_keys.items[i].a],
					   m->threads[from->sample_keys.items[i].b] };

		err = sample_key.a == PROFILE_NO_STACK
			      ? PAIRS_FULL
			      : timeline_sample_key(into, sample_key, &m->sample_keys[i]);
		if (err == PAIRS_FULL) {
			m->sample_keys[i] = UINT32_MAX;
			into->refused += from->counts.items[i];
		}
	}
	while (err >= 0 && timeline_next(from, &at, &sample))
		if (m->sample_keys[sample.sample_key] != UINT32_MAX)
			err = timeline_add_by_key(
				into, sample.second, m->sample_keys[sample.sample_key],
				weighed(m, (struct timeline_amount){ sample.count,
								     sample.weight_ns }));
	return err < 0 ? err : timeline_each_undated(from, merge_undated, m);
}

static int merge_info(struct merger *m)
{
	const struct profile *from = m->from;
	int err = 0;

	for (size_t i = 0; !err && i < from->runs.n; i++) {
		struct profile_run run = from->runs.items[i];

		run.host = m->strings[run.host];
		run.kernel = m->strings[run.kernel];
		run.arch = m->strings[run.arch];
		run.command = m->strings[run.command];
		run.event = m->strings[run.event];
		err = profile_add_run(m->into, &run);
	}
	for (size_t i = 0; !err && i < from->ledger.n; i++)
		err = profile_add_count(m->into,
					profile_string(from, from->ledger.items[i].key),
					from->ledger.items[i].value);
	m->into->was_cut |= from->was_cut;
	m->into->left_out += from->left_out;
	return err;
}

/* The first one says what a count is, and what it usually weighs. */
static int merge_values(struct merger *m)
{
	struct profile *into = m->into;
	const struct profile *from = m->from;
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
			    profile_string(into, into->value_type),
			    profile_string(from, from->value_type));
	into->one_view &= from->one_view;
	if (!from->period_ns)
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
		err = merge_attributes(m);
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
	const struct profile *from = m->from;
	const struct {
		uint32_t **place;
		size_t n;
	} maps[] = {
		{ &m->strings, intern_count(from->strings) },
		{ &m->modules, from->modules.n },
		{ &m->frames, from->frames.n },
		{ &m->nodes, from->nodes.n },
		{ &m->attributes, from->attributes.n },
		{ &m->stacks, from->stacks.n },
		{ &m->processes, from->processes.n },
		{ &m->threads, from->threads.n },
		{ &m->sample_keys, from->timeline.sample_keys.n },
	};
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		if (at)
			*maps[i].place = at + sum;
		sum += maps[i].n;
	}
	return sum;
}

int profile_merge(struct profile *into, const struct profile *from)
{
	struct merger m = { .into = into, .from = from };
	AUTO_FREE uint32_t *room = calloc(lay_out(&m, NULL), sizeof(*room));

	if (!room)
		return fail(-ENOMEM, "no memory to merge");
	lay_out(&m, room);
	return merge(&m);
}
