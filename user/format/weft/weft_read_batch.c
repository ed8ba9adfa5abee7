// SPDX-License-Identifier: BSD-2-Clause
#include "format/weft/weft_read_batch.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/weft/weft_fields.h"

#include <string.h>

#define X(name, number)                                                                  \
	_Static_assert(FRAME_TYPE_##name == (number), "as in docs/weft.proto");
PROTO_FRAME_TYPE(X)
#undef X

/* A row is taken if every number that it refers by is one that is there. */
#define NEED(condition)                                                                  \
	do {                                                                             \
		if (!(condition))                                                        \
			return BATCH_DAMAGED;                                            \
	} while (0)

struct column {
	const unsigned char *bytes;
	size_t n, at;
	uint64_t before;
};

struct rows {
	struct profile *r;
	struct batch_reader *batch;
	struct column columns[BATCH_FIELDS];
	bool again; /* BATCH_RUNS was seen: these runs replace the ones before */
};

static bool has(const struct rows *rows, enum batch_field column)
{
	return rows->columns[column].at < rows->columns[column].n;
}

/* What a column that has ended gives is 0. */
static uint64_t next(struct rows *rows, enum batch_field column)
{
	struct column *c = &rows->columns[column];
	uint64_t value = 0;

	if (c->at < c->n && !varint_get(c->bytes, c->n, &c->at, &value)) {
		c->at = c->n;
		value = 0;
	}
	return value;
}

static uint64_t next_step(struct rows *rows, enum batch_field column)
{
	struct column *c = &rows->columns[column];

	c->before += (uint64_t)unzigzag(next(rows, column));
	return c->before;
}

static bool is_string(const struct rows *rows, uint64_t id)
{
	return id < intern_count(rows->r->strings);
}

static int add_string(struct rows *rows, const struct proto_field *field)
{
	size_t before = intern_count(rows->r->strings);
	uint32_t id;
	int err = profile_add_string(rows->r, (const char *)field->bytes, field->n, &id);

	NEED(err || id == before);
	return err;
}

static int add_module(struct rows *rows)
{
	struct profile_module m;
	uint64_t path = next(rows, BATCH_MODULE_PATH);
	uint64_t build_id = next(rows, BATCH_MODULE_BUILD_ID);

	NEED(is_string(rows, path) && is_string(rows, build_id));
	NEED(rows->r->modules.n < MODULES_MAX);
	m = (struct profile_module){ (uint32_t)path, (uint32_t)build_id, 0 };
	return vec_push(&rows->r->modules, m);
}

static int add_frame(struct rows *rows)
{
	struct profile_frame f = { .offset = next(rows, BATCH_FRAME_OFFSET) };
	uint64_t module = next(rows, BATCH_FRAME_MODULE);
	uint64_t type = next(rows, BATCH_FRAME_TYPE);
	uint64_t name = next(rows, BATCH_FRAME_NAME);
	uint64_t file = next(rows, BATCH_FRAME_FILE);
	uint64_t line = next(rows, BATCH_FRAME_LINE);

	NEED(module < rows->r->modules.n && type >> 1 <= FRAME_TYPE_LABEL);
	NEED(is_string(rows, name) && is_string(rows, file));
	NEED(line <= UINT32_MAX && rows->r->frames.n < FRAMES_DISTINCT_MAX);
	f.module = (uint32_t)module;
	f.type = (uint32_t)type >> 1;
	f.returned = type & 1;
	f.name = (uint32_t)name;
	f.file = (uint32_t)file;
	f.line = (uint32_t)line;
	return vec_push(&rows->r->frames, f);
}

static bool read_code(struct rows *rows, uint32_t *ret)
{
	struct column *c = &rows->columns[BATCH_NODE_CODE];
	uint64_t value = next(rows, BATCH_NODE_CODE);

	if (value & 1) {
		uint64_t mark = value >> 9, rest = value >> 1 & 0xff;

		*ret = (uint32_t)mark << 28 | (uint32_t)rest;
		if (mark == VIEW_BOUNDARY >> 28)
			return rest <= BOUNDARY_FIBER;
		return (mark == VIEW_GAP >> 28 || mark == VIEW_CUT >> 28) && !rest;
	}
	c->before += (uint64_t)unzigzag(value >> 1);
	*ret = (uint32_t)c->before;
	return c->before < rows->r->frames.n;
}

static int add_node(struct rows *rows)
{
	uint64_t up = next(rows, BATCH_NODE_UP);
	size_t number = rows->r->nodes.n;
	uint32_t code, id;
	int err;

	NEED(read_code(rows, &code) && up < number);
	err = profile_add_node(rows->r, (uint32_t)(number - 1 - up), code, &id);
	NEED(err || id == number);
	return err;
}

static bool read_stack(struct rows *rows, bool again, struct profile_stack *ret)
{
	uint64_t async =
		next_step(rows, again ? BATCH_AGAIN_ASYNC_STEP : BATCH_STACK_ASYNC_STEP);
	uint64_t thread =
		async - (uint64_t)unzigzag(next(rows, again ? BATCH_AGAIN_THREAD
							    : BATCH_STACK_THREAD));
	uint64_t notes = next(rows, again ? BATCH_AGAIN_NOTES : BATCH_STACK_NOTES);
	uint64_t hook = next(rows, again ? BATCH_AGAIN_HOOK : BATCH_STACK_HOOK);

	*ret = (struct profile_stack){
		.node = { (uint32_t)async, (uint32_t)thread },
		.notes = (uint32_t)notes,
		.hook = (uint32_t)hook,
	};
	return async < rows->r->nodes.n && thread < rows->r->nodes.n && notes < 256 &&
	       hook < N_HOOKS;
}

static int add_stack(struct rows *rows)
{
	struct profile_stack stack;

	NEED(read_stack(rows, false, &stack) && rows->r->stacks.n < STACKS_MAX);
	return vec_push(&rows->r->stacks, stack);
}

static int trace_stack(struct rows *rows)
{
	uint64_t id = next_step(rows, BATCH_TRACED_STACK_STEP);
	uint64_t trace = next(rows, BATCH_TRACED_TRACE);
	uint64_t span = next(rows, BATCH_TRACED_SPAN);
	uint64_t attribute = next(rows, BATCH_TRACED_ATTRIBUTE);

	NEED(id < rows->r->stacks.n && is_string(rows, trace) && is_string(rows, span));
	NEED(attribute < rows->r->attributes.n);
	rows->r->stacks.items[id].trace = (uint32_t)trace;
	rows->r->stacks.items[id].span = (uint32_t)span;
	rows->r->stacks.items[id].attributes = (uint32_t)attribute;
	return 0;
}

static int add_attribute(struct rows *rows)
{
	uint64_t key = next(rows, BATCH_ATTRIBUTE_KEY);
	uint64_t value = next(rows, BATCH_ATTRIBUTE_VALUE);
	uint64_t following = next(rows, BATCH_ATTRIBUTE_NEXT);
	struct profile_attribute attribute = { (uint32_t)key, (uint32_t)value,
					       (uint32_t)following };

	NEED(is_string(rows, key) && is_string(rows, value));
	NEED(following < rows->r->attributes.n && rows->r->attributes.n < TRACES_MAX);
	return vec_push(&rows->r->attributes, attribute);
}

static int add_process(struct rows *rows)
{
	uint64_t host = next(rows, BATCH_PROCESS_HOST);
	uint64_t pid = next(rows, BATCH_PROCESS_PID);
	uint64_t name = next(rows, BATCH_PROCESS_NAME);
	uint64_t cgroup = next(rows, BATCH_PROCESS_CGROUP);
	uint64_t incarnation = next(rows, BATCH_PROCESS_INCARNATION);
	struct profile_process p = { (uint32_t)host, (uint32_t)pid, (uint32_t)name,
				     (uint32_t)cgroup, (uint32_t)incarnation };

	NEED(is_string(rows, host) && is_string(rows, name) && is_string(rows, cgroup));
	NEED(pid <= UINT32_MAX && rows->r->processes.n < PROFILE_THREADS_MAX);
	return vec_push(&rows->r->processes, p);
}

static int add_thread(struct rows *rows)
{
	uint64_t process = next(rows, BATCH_THREAD_PROCESS);
	uint64_t tid = next(rows, BATCH_THREAD_TID);
	uint64_t name = next(rows, BATCH_THREAD_NAME);
	struct profile_thread t = { (uint32_t)process, (uint32_t)tid, (uint32_t)name };

	NEED(process < rows->r->processes.n && is_string(rows, name));
	NEED(tid <= UINT32_MAX && rows->r->threads.n < PROFILE_THREADS_MAX);
	return vec_push(&rows->r->threads, t);
}

static int add_sample_key(struct rows *rows)
{
	uint64_t stack = next_step(rows, BATCH_SAMPLE_KEY_STACK_STEP);
	uint64_t thread = next_step(rows, BATCH_SAMPLE_KEY_THREAD_STEP);
	size_t number = rows->r->timeline.sample_keys.n;
	uint32_t id;
	int err;

	NEED(stack < rows->r->stacks.n && thread < rows->r->threads.n);
	err = timeline_sample_key(&rows->r->timeline,
				  (struct pair){ (uint32_t)stack, (uint32_t)thread },
				  &id);
	NEED(err || id == number);
	return err;
}

/* One second's entries, as core/timeline.c has written them. */
static int add_second(struct rows *rows)
{
	int64_t second = rows->batch->second + unzigzag(next(rows, BATCH_LOG));
	uint64_t left = next(rows, BATCH_LOG), sample_key = 0;
	int err = 0;

	NEED(second >= 0 && second <= UINT32_MAX);
	rows->batch->second = second;
	while (!err && left--) {
		struct timeline_amount amount = { 1, 0 };
		uint64_t step;

		NEED(has(rows, BATCH_LOG));
		step = next(rows, BATCH_LOG);
		if (step & 1)
			amount.count = next(rows, BATCH_LOG);
		if (step & 2)
			amount.weight_ns = next(rows, BATCH_LOG);
		sample_key += step >> 2;
		NEED(sample_key < rows->r->timeline.sample_keys.n && amount.count &&
		     amount.count <= UINT32_MAX);
		err = timeline_add_by_key(&rows->r->timeline, (uint32_t)second,
					  (uint32_t)sample_key, amount);
	}
	return err;
}

static int add_undated(struct rows *rows)
{
	uint64_t sample_key = next(rows, BATCH_UNDATED_SAMPLE_KEY);
	uint64_t count = next(rows, BATCH_UNDATED_COUNT);
	uint64_t weight_ns = next(rows, BATCH_UNDATED_WEIGHT_NS);

	NEED(sample_key < rows->r->timeline.sample_keys.n && count <= UINT64_MAX >> 16);
	NEED(count || !weight_ns);
	return timeline_add_undated_by_key(&rows->r->timeline, (uint32_t)sample_key,
					   (struct timeline_amount){ count, weight_ns });
}

static int name_frame(struct rows *rows)
{
	uint64_t frame = next_step(rows, BATCH_NAMED_FRAME_STEP);
	uint64_t name = next(rows, BATCH_NAMED_NAME);
	uint64_t file = next(rows, BATCH_NAMED_FILE);
	uint64_t line = next(rows, BATCH_NAMED_LINE);
	struct profile_frame *f;

	NEED(frame < rows->r->frames.n && is_string(rows, name));
	NEED(is_string(rows, file) && line <= UINT32_MAX);
	f = &rows->r->frames.items[frame];
	f->name = (uint32_t)name;
	f->file = (uint32_t)file;
	f->line = (uint32_t)line;
	return 0;
}

static int change_stack(struct rows *rows)
{
	uint64_t id = next_step(rows, BATCH_AGAIN_STACK_STEP);
	struct profile_stack stack;

	NEED(read_stack(rows, true, &stack) && id < rows->r->stacks.n);
	stack.trace = rows->r->stacks.items[id].trace;
	stack.span = rows->r->stacks.items[id].span;
	stack.attributes = rows->r->stacks.items[id].attributes;
	rows->r->stacks.items[id] = stack;
	return 0;
}

static int know_module(struct rows *rows)
{
	uint64_t id = next_step(rows, BATCH_KNOWN_MODULE_STEP);
	uint64_t build_id = next(rows, BATCH_KNOWN_BUILD_ID);

	NEED(id < rows->r->modules.n && is_string(rows, build_id));
	rows->r->modules.items[id].build_id = (uint32_t)build_id;
	rows->r->modules.items[id].bias = next(rows, BATCH_KNOWN_BIAS);
	return 0;
}

static int add_run(struct rows *rows, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct profile_run run = { 0 };
	uint32_t *const texts[] = {
		[RUN_HOST] = &run.host,	  [RUN_KERNEL] = &run.kernel,
		[RUN_ARCH] = &run.arch,	  [RUN_COMMAND] = &run.command,
		[RUN_EVENT] = &run.event,
	};
	struct proto_field f;

	while (proto_next(&proto, &f)) {
		if (f.number <= RUN_EVENT) {
			NEED(is_string(rows, f.value));
			*texts[f.number] = (uint32_t)f.value;
		} else if (f.number == RUN_HZ) {
			NEED(f.value <= UINT32_MAX);
			run.hz = (uint32_t)f.value;
		} else if (f.number == RUN_STARTED_UNIX_NS) {
			run.started_unix_ns = f.value;
		} else if (f.number == RUN_DURATION_NS) {
			run.duration_ns = f.value;
		}
	}
	NEED(!proto.bad);
	if (!rows->again)
		rows->r->runs.n = 0;
	rows->again = true;
	return profile_add_run(rows->r, &run);
}

static int add_count(struct rows *rows, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field f;
	uint64_t key = 0, value = 0;

	while (proto_next(&proto, &f)) {
		if (f.number == COUNT_KEY)
			key = f.value;
		else if (f.number == COUNT_VALUE)
			value = f.value;
	}
	NEED(!proto.bad && is_string(rows, key));
	return profile_add_count(rows->r, profile_string(rows->r, (uint32_t)key), value);
}

static int take_item(struct rows *rows, const struct proto_field *field)
{
	struct profile *r = rows->r;

	switch (field->number) {
	case BATCH_VALUE_TYPE:
		NEED(is_string(rows, field->value));
		r->value_type = (uint32_t)field->value;
		return 0;
	case BATCH_VALUE_UNIT:
		NEED(is_string(rows, field->value));
		r->value_unit = (uint32_t)field->value;
		return 0;
	case BATCH_PERIOD_NS:
		r->period_ns = field->value <= PROFILE_PERIOD_MAX_NS ? field->value : 0;
		return 0;
	case BATCH_ONE_VIEW:
		r->one_view = field->value;
		return 0;
	case BATCH_DROPPED:
		r->left_out += field->value;
		return 0;
	case BATCH_COMPLETE:
		rows->batch->is_complete = field->value;
		return 0;
	default: /* of a later version */
		return 0;
	}
}

static const struct table {
	enum batch_field column;
	int (*add)(struct rows *rows);
} tables[] = {
	{ BATCH_MODULE_PATH, add_module },
	{ BATCH_FRAME_OFFSET, add_frame },
	{ BATCH_NODE_UP, add_node },
	{ BATCH_ATTRIBUTE_KEY, add_attribute },
	{ BATCH_STACK_ASYNC_STEP, add_stack },
	{ BATCH_TRACED_STACK_STEP, trace_stack },
	{ BATCH_PROCESS_HOST, add_process },
	{ BATCH_THREAD_PROCESS, add_thread },
	{ BATCH_SAMPLE_KEY_STACK_STEP, add_sample_key },
	{ BATCH_LOG, add_second },
	{ BATCH_UNDATED_SAMPLE_KEY, add_undated },
	{ BATCH_NAMED_FRAME_STEP, name_frame },
	{ BATCH_AGAIN_STACK_STEP, change_stack },
	{ BATCH_KNOWN_MODULE_STEP, know_module },
};

/* Strings first, as they stand first; then the columns are noted. */
static int take_field(struct rows *rows, const struct proto_field *field)
{
	if (field->wire != PROTO_BYTES)
		return take_item(rows, field);
	if (field->number == BATCH_STRINGS)
		return add_string(rows, field);
	if (field->number == BATCH_RUNS)
		return add_run(rows, field);
	if (field->number == BATCH_LEDGER)
		return add_count(rows, field);
	if (field->number < BATCH_FIELDS)
		rows->columns[field->number] =
			(struct column){ .bytes = field->bytes, .n = field->n };
	return 0;
}

int batch_apply(struct batch_reader *batch, const void *bytes, size_t n)
{
	struct rows rows = { .r = batch->profile, .batch = batch };
	struct proto proto = proto_of(bytes, n);
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&proto, &field))
		err = take_field(&rows, &field);
	NEED(err || !proto.bad);
	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(*tables); i++)
		while (!err && has(&rows, tables[i].column))
			err = tables[i].add(&rows);
	return err;
}
