// SPDX-License-Identifier: BSD-2-Clause
#include "format/weft/weft_read_piece.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/weft/weft_fields.h"

#include <string.h>

#define X(name, number) _Static_assert(PLACE_##name == (number), "as in docs/weft.proto");
PROTO_PLACE(X)
#undef X

/* A row is taken if every number that it refers by is one that is there. */
#define NEED(condition)                                                                  \
	do {                                                                             \
		if (!(condition))                                                        \
			return PIECE_DAMAGED;                                            \
	} while (0)

struct column {
	const unsigned char *bytes;
	size_t n, at;
	uint64_t before;
};

struct rows {
	struct reading *r;
	struct piece_reader *piece;
	struct column columns[PIECE_FIELDS];
	bool again; /* PIECE_RUNS was seen: these runs replace the ones before */
};

static bool has(const struct rows *rows, enum piece_field column)
{
	return rows->columns[column].at < rows->columns[column].n;
}

/* What a column that has ended gives is 0. */
static uint64_t next(struct rows *rows, enum piece_field column)
{
	struct column *c = &rows->columns[column];
	uint64_t value = 0;

	if (c->at < c->n && !varint_get(c->bytes, c->n, &c->at, &value)) {
		c->at = c->n;
		value = 0;
	}
	return value;
}

static uint64_t next_step(struct rows *rows, enum piece_field column)
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
	int err = reading_add_string(rows->r, (const char *)field->bytes, field->n, &id);

	NEED(err || id == before);
	return err;
}

static int add_module(struct rows *rows)
{
	struct reading_module m;
	uint64_t path = next(rows, PIECE_MODULE_PATH);
	uint64_t build_id = next(rows, PIECE_MODULE_BUILD_ID);

	NEED(is_string(rows, path) && is_string(rows, build_id));
	NEED(rows->r->modules.n < MODULES_MAX);
	m = (struct reading_module){ (uint32_t)path, (uint32_t)build_id };
	return vec_push(&rows->r->modules, m);
}

static int add_frame(struct rows *rows)
{
	struct reading_frame f = { .offset = next(rows, PIECE_FRAME_OFFSET) };
	uint64_t module = next(rows, PIECE_FRAME_MODULE);
	uint64_t place = next(rows, PIECE_FRAME_PLACE);
	uint64_t name = next(rows, PIECE_FRAME_NAME);
	uint64_t file = next(rows, PIECE_FRAME_FILE);
	uint64_t line = next(rows, PIECE_FRAME_LINE);

	NEED(module < rows->r->modules.n && place >> 1 <= PLACE_LABEL);
	NEED(is_string(rows, name) && is_string(rows, file));
	NEED(line <= UINT32_MAX && rows->r->frames.n < FRAMES_DISTINCT_MAX);
	f.module = (uint32_t)module;
	f.place = (uint32_t)place >> 1;
	f.returned = place & 1;
	f.name = (uint32_t)name;
	f.file = (uint32_t)file;
	f.line = (uint32_t)line;
	return vec_push(&rows->r->frames, f);
}

static bool read_code(struct rows *rows, uint32_t *ret)
{
	struct column *c = &rows->columns[PIECE_NODE_CODE];
	uint64_t value = next(rows, PIECE_NODE_CODE);

	if (value & 1) {
		uint64_t mark = value >> 9, rest = value >> 1 & 0xff;

		*ret = (uint32_t)mark << 28 | (uint32_t)rest;
		if (mark == VIEW_BOUNDARY >> 28)
			return rest <= BOUNDARY_THREAD;
		return (mark == VIEW_GAP >> 28 || mark == VIEW_CUT >> 28) && !rest;
	}
	c->before += (uint64_t)unzigzag(value >> 1);
	*ret = (uint32_t)c->before;
	return c->before < rows->r->frames.n;
}

static int add_node(struct rows *rows)
{
	uint64_t up = next(rows, PIECE_NODE_UP);
	size_t number = rows->r->nodes.n;
	uint32_t code, id;
	int err;

	NEED(read_code(rows, &code) && up < number);
	err = reading_add_node(rows->r, (uint32_t)(number - 1 - up), code, &id);
	NEED(err || id == number);
	return err;
}

static bool read_stack(struct rows *rows, bool again, struct reading_stack *ret)
{
	uint64_t async =
		next_step(rows, again ? PIECE_AGAIN_ASYNC_STEP : PIECE_STACK_ASYNC_STEP);
	uint64_t thread =
		async - (uint64_t)unzigzag(next(rows, again ? PIECE_AGAIN_THREAD
							    : PIECE_STACK_THREAD));
	uint64_t notes = next(rows, again ? PIECE_AGAIN_NOTES : PIECE_STACK_NOTES);

	*ret = (struct reading_stack){
		.node = { (uint32_t)async, (uint32_t)thread },
		.notes = (uint32_t)notes,
	};
	return async < rows->r->nodes.n && thread < rows->r->nodes.n && notes < 256;
}

static int add_stack(struct rows *rows)
{
	struct reading_stack stack;

	NEED(read_stack(rows, false, &stack) && rows->r->stacks.n < STACKS_MAX);
	return vec_push(&rows->r->stacks, stack);
}

static int add_process(struct rows *rows)
{
	uint64_t host = next(rows, PIECE_PROCESS_HOST);
	uint64_t pid = next(rows, PIECE_PROCESS_PID);
	uint64_t name = next(rows, PIECE_PROCESS_NAME);
	uint64_t cgroup = next(rows, PIECE_PROCESS_CGROUP);
	uint64_t life = next(rows, PIECE_PROCESS_LIFE);
	struct reading_process p = { (uint32_t)host, (uint32_t)pid, (uint32_t)name,
				     (uint32_t)cgroup, (uint32_t)life };

	NEED(is_string(rows, host) && is_string(rows, name) && is_string(rows, cgroup));
	NEED(pid <= UINT32_MAX && rows->r->processes.n < READING_THREADS_MAX);
	return vec_push(&rows->r->processes, p);
}

static int add_thread(struct rows *rows)
{
	uint64_t process = next(rows, PIECE_THREAD_PROCESS);
	uint64_t tid = next(rows, PIECE_THREAD_TID);
	uint64_t name = next(rows, PIECE_THREAD_NAME);
	struct reading_thread t = { (uint32_t)process, (uint32_t)tid, (uint32_t)name };

	NEED(process < rows->r->processes.n && is_string(rows, name));
	NEED(tid <= UINT32_MAX && rows->r->threads.n < READING_THREADS_MAX);
	return vec_push(&rows->r->threads, t);
}

static int add_use(struct rows *rows)
{
	uint64_t stack = next_step(rows, PIECE_USE_STACK_STEP);
	uint64_t thread = next_step(rows, PIECE_USE_THREAD_STEP);
	size_t number = rows->r->timeline.uses.n;
	uint32_t id;
	int err;

	NEED(stack < rows->r->stacks.n && thread < rows->r->threads.n);
	err = timeline_use(&rows->r->timeline,
			   (struct pair){ (uint32_t)stack, (uint32_t)thread }, &id);
	NEED(err || id == number);
	return err;
}

/* One second's entries, as core/timeline.c has written them. */
static int add_second(struct rows *rows)
{
	int64_t second = rows->piece->second + unzigzag(next(rows, PIECE_LOG));
	uint64_t left = next(rows, PIECE_LOG), use = 0;
	int err = 0;

	NEED(second >= 0 && second <= UINT32_MAX);
	rows->piece->second = second;
	while (!err && left--) {
		uint64_t step, count = 1;

		NEED(has(rows, PIECE_LOG));
		step = next(rows, PIECE_LOG);
		if (step & 1)
			count = next(rows, PIECE_LOG);
		use += step >> 1;
		NEED(use < rows->r->timeline.uses.n && count && count <= UINT32_MAX);
		err = timeline_add_use(&rows->r->timeline, (uint32_t)second,
				       (uint32_t)use, count);
	}
	return err;
}

static int add_undated(struct rows *rows)
{
	uint64_t use = next(rows, PIECE_UNDATED_USE);
	uint64_t count = next(rows, PIECE_UNDATED_COUNT);

	NEED(use < rows->r->timeline.uses.n && count <= UINT64_MAX >> 16);
	timeline_add_use_undated(&rows->r->timeline, (uint32_t)use, count);
	return 0;
}

static int name_frame(struct rows *rows)
{
	uint64_t frame = next_step(rows, PIECE_NAMED_FRAME_STEP);
	uint64_t name = next(rows, PIECE_NAMED_NAME);
	uint64_t file = next(rows, PIECE_NAMED_FILE);
	uint64_t line = next(rows, PIECE_NAMED_LINE);
	struct reading_frame *f;

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
	uint64_t id = next_step(rows, PIECE_AGAIN_STACK_STEP);
	struct reading_stack stack;

	NEED(read_stack(rows, true, &stack) && id < rows->r->stacks.n);
	rows->r->stacks.items[id] = stack;
	return 0;
}

static int know_module(struct rows *rows)
{
	uint64_t id = next_step(rows, PIECE_KNOWN_MODULE_STEP);
	uint64_t build_id = next(rows, PIECE_KNOWN_BUILD_ID);

	NEED(id < rows->r->modules.n && is_string(rows, build_id));
	rows->r->modules.items[id].build_id = (uint32_t)build_id;
	return 0;
}

static int add_run(struct rows *rows, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct reading_run run = { 0 };
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
	return reading_add_run(rows->r, &run);
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
	return reading_add_count(rows->r, reading_string(rows->r, (uint32_t)key), value);
}

static int take_item(struct rows *rows, const struct proto_field *field)
{
	struct reading *r = rows->r;

	switch (field->number) {
	case PIECE_VALUE_TYPE:
		NEED(is_string(rows, field->value));
		r->value_type = (uint32_t)field->value;
		return 0;
	case PIECE_VALUE_UNIT:
		NEED(is_string(rows, field->value));
		r->value_unit = (uint32_t)field->value;
		return 0;
	case PIECE_PERIOD_NS:
		r->period_ns = field->value;
		return 0;
	case PIECE_ONE_VIEW:
		r->one_view = field->value;
		return 0;
	case PIECE_LEFT_OUT:
		r->left_out += field->value;
		return 0;
	case PIECE_COMPLETE:
		rows->piece->is_complete = field->value;
		return 0;
	default: /* of a later version */
		return 0;
	}
}

static const struct table {
	enum piece_field column;
	int (*add)(struct rows *rows);
} tables[] = {
	{ PIECE_MODULE_PATH, add_module },
	{ PIECE_FRAME_OFFSET, add_frame },
	{ PIECE_NODE_UP, add_node },
	{ PIECE_STACK_ASYNC_STEP, add_stack },
	{ PIECE_PROCESS_HOST, add_process },
	{ PIECE_THREAD_PROCESS, add_thread },
	{ PIECE_USE_STACK_STEP, add_use },
	{ PIECE_LOG, add_second },
	{ PIECE_UNDATED_USE, add_undated },
	{ PIECE_NAMED_FRAME_STEP, name_frame },
	{ PIECE_AGAIN_STACK_STEP, change_stack },
	{ PIECE_KNOWN_MODULE_STEP, know_module },
};

/* Strings first, as they stand first; then the columns are noted. */
static int take_field(struct rows *rows, const struct proto_field *field)
{
	if (field->wire != PROTO_BYTES)
		return take_item(rows, field);
	if (field->number == PIECE_STRINGS)
		return add_string(rows, field);
	if (field->number == PIECE_RUNS)
		return add_run(rows, field);
	if (field->number == PIECE_LEDGER)
		return add_count(rows, field);
	if (field->number < PIECE_FIELDS)
		rows->columns[field->number] =
			(struct column){ .bytes = field->bytes, .n = field->n };
	return 0;
}

int piece_apply(struct piece_reader *piece, const void *bytes, size_t n)
{
	struct rows rows = { .r = piece->reading, .piece = piece };
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
