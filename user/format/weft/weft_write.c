// SPDX-License-Identifier: BSD-2-Clause
/* A recording on its way into a file, docs/format.md: a piece a second. */
#include "base/error.h"
#include "base/proto.h"
#include "format/weft/weft_write_piece.h"
#include "format/writer.h"

#include <errno.h>
#include <string.h>

/* What is known of a frame at the end only. */
struct named {
	uint32_t name, file, line;
};

struct weft_stream {
	struct stream stream; /* first: what others know of it */
	struct piece *piece;
	/* how much of each was written */
	size_t strings, nodes, processes, threads, uses, log, runs;
	struct timeline_cursor at;
	VEC(uint32_t) build_ids;	  /* as written, by module */
	VEC(struct named) names;	  /* as written, by frame */
	VEC(struct reading_stack) stacks; /* as written */
};

static int add_strings(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (; !err && s->strings < intern_count(r->strings); s->strings++) {
		size_t n;
		const void *bytes = intern_bytes(r->strings, (uint32_t)s->strings, &n);

		piece_put_item(s->piece, PIECE_STRINGS, bytes, n);
		err = piece_row(s->piece);
	}
	return err;
}

static int add_modules(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	while (!err && s->build_ids.n < r->modules.n) {
		const struct reading_module *m = &r->modules.items[s->build_ids.n];

		piece_put(s->piece, PIECE_MODULE_PATH, m->path);
		piece_put(s->piece, PIECE_MODULE_BUILD_ID, m->build_id);
		err = vec_push(&s->build_ids, m->build_id);
		if (!err)
			err = piece_row(s->piece);
	}
	return err;
}

static struct named named(const struct reading_frame *frame)
{
	return (struct named){ frame->name, frame->file, frame->line };
}

static int add_frames(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	while (!err && s->names.n < r->frames.n) {
		const struct reading_frame *f = &r->frames.items[s->names.n];

		piece_put(s->piece, PIECE_FRAME_OFFSET, f->offset);
		piece_put(s->piece, PIECE_FRAME_MODULE, f->module);
		piece_put(s->piece, PIECE_FRAME_PLACE, f->place << 1 | f->returned);
		piece_put(s->piece, PIECE_FRAME_NAME, f->name);
		piece_put(s->piece, PIECE_FRAME_FILE, f->file);
		piece_put(s->piece, PIECE_FRAME_LINE, f->line);
		err = vec_push(&s->names, named(f));
		if (!err)
			err = piece_row(s->piece);
	}
	return err;
}

static int add_nodes(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (; !err && s->nodes < r->nodes.n; s->nodes++) {
		struct pair node = r->nodes.items[s->nodes];

		piece_put(s->piece, PIECE_NODE_UP, s->nodes - 1 - node.a);
		piece_put_code(s->piece, node.b);
		err = piece_row(s->piece);
	}
	return err;
}

static void put_stack(struct piece *piece, const struct reading_stack *stack, bool again)
{
	uint32_t async = stack->node[VIEW_ASYNC], thread = stack->node[VIEW_THREAD];

	piece_put_step(piece, again ? PIECE_AGAIN_ASYNC_STEP : PIECE_STACK_ASYNC_STEP,
		       async);
	piece_put(piece, again ? PIECE_AGAIN_THREAD : PIECE_STACK_THREAD,
		  zigzag((int64_t)async - thread));
	piece_put(piece, again ? PIECE_AGAIN_NOTES : PIECE_STACK_NOTES,
		  stack->notes & STACK_NOTES_KEPT);
}

static int add_stacks(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	while (!err && s->stacks.n < r->stacks.n) {
		const struct reading_stack *stack = &r->stacks.items[s->stacks.n];

		put_stack(s->piece, stack, false);
		err = vec_push(&s->stacks, *stack);
		if (!err)
			err = piece_row(s->piece);
	}
	return err;
}

static int add_owners(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (; !err && s->processes < r->processes.n; s->processes++) {
		const struct reading_process *p = &r->processes.items[s->processes];

		piece_put(s->piece, PIECE_PROCESS_HOST, p->host);
		piece_put(s->piece, PIECE_PROCESS_PID, p->pid);
		piece_put(s->piece, PIECE_PROCESS_NAME, p->name);
		piece_put(s->piece, PIECE_PROCESS_CGROUP, p->cgroup);
		piece_put(s->piece, PIECE_PROCESS_LIFE, p->life);
		err = piece_row(s->piece);
	}
	for (; !err && s->threads < r->threads.n; s->threads++) {
		const struct reading_thread *t = &r->threads.items[s->threads];

		piece_put(s->piece, PIECE_THREAD_PROCESS, t->process);
		piece_put(s->piece, PIECE_THREAD_TID, t->tid);
		piece_put(s->piece, PIECE_THREAD_NAME, t->name);
		err = piece_row(s->piece);
	}
	return err;
}

/* As much of the log at once as makes a piece, whole seconds. */
static int add_log(struct weft_stream *s, const struct timeline *timeline)
{
	struct timeline_sample sample;
	int err = 0;

	while (!err && s->log < timeline->log.n) {
		size_t end = s->log;

		while (end - s->log < PIECE_RAW_USUALLY &&
		       timeline_next(timeline, &s->at, &sample))
			if (!s->at.left)
				end = s->at.at;
		while (s->at.left && timeline_next(timeline, &s->at, &sample))
			end = s->at.at;
		if (end == s->log)
			return fail(-EINVAL, "a timeline that ends too soon");
		piece_put_bytes(s->piece, PIECE_LOG, timeline->log.s + s->log,
				end - s->log);
		s->log = end;
		err = piece_row(s->piece);
	}
	return err;
}

static int add_uses(struct weft_stream *s, const struct timeline *timeline)
{
	int err = 0;

	for (; !err && s->uses < timeline->uses.n; s->uses++) {
		struct pair use = timeline->uses.items[s->uses];

		piece_put_step(s->piece, PIECE_USE_STACK_STEP, use.a);
		piece_put_step(s->piece, PIECE_USE_THREAD_STEP, use.b);
		err = piece_row(s->piece);
	}
	return err ? err : add_log(s, timeline);
}

static int add_run(struct weft_stream *s, const struct reading_run *run)
{
	AUTO_STR text = { 0 };
	int err;

	proto_add_uint(&text, RUN_HOST, run->host);
	proto_add_uint(&text, RUN_KERNEL, run->kernel);
	proto_add_uint(&text, RUN_ARCH, run->arch);
	proto_add_uint(&text, RUN_COMMAND, run->command);
	proto_add_uint(&text, RUN_EVENT, run->event);
	proto_add_uint(&text, RUN_HZ, run->hz);
	proto_add_uint(&text, RUN_STARTED_UNIX_NS, run->started_unix_ns);
	proto_add_uint(&text, RUN_DURATION_NS, run->duration_ns);
	err = str_error(&text);
	if (!err)
		piece_put_item(s->piece, PIECE_RUNS, text.s, text.n);
	return err;
}

static int add_runs(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->runs.n; i++)
		err = add_run(s, &r->runs.items[i]);
	s->runs = r->runs.n;
	return err;
}

static int weft_stream_add(struct stream *stream, const struct reading *r,
			   const struct timeline *timeline)
{
	struct weft_stream *s = (struct weft_stream *)stream;
	int err = add_strings(s, r);

	if (!err)
		err = add_modules(s, r);
	if (!err)
		err = add_frames(s, r);
	if (!err)
		err = add_nodes(s, r);
	if (!err)
		err = add_stacks(s, r);
	if (!err)
		err = add_owners(s, r);
	if (!err)
		err = add_uses(s, timeline);
	if (!err && s->runs != r->runs.n)
		err = add_runs(s, r);
	return err ? err : piece_write(s->piece);
}

static int end_frames(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->names.n; i++) {
		struct named now = named(&r->frames.items[i]);

		if (!memcmp(&s->names.items[i], &now, sizeof(now)))
			continue;
		piece_put_step(s->piece, PIECE_NAMED_FRAME_STEP, i);
		piece_put(s->piece, PIECE_NAMED_NAME, now.name);
		piece_put(s->piece, PIECE_NAMED_FILE, now.file);
		piece_put(s->piece, PIECE_NAMED_LINE, now.line);
		err = piece_row(s->piece);
	}
	return err;
}

static int end_stacks(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->stacks.n; i++) {
		if (!memcmp(&s->stacks.items[i], &r->stacks.items[i],
			    sizeof(struct reading_stack)))
			continue;
		piece_put_step(s->piece, PIECE_AGAIN_STACK_STEP, i);
		put_stack(s->piece, &r->stacks.items[i], true);
		err = piece_row(s->piece);
	}
	return err;
}

static int end_modules(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->build_ids.n; i++) {
		if (s->build_ids.items[i] == r->modules.items[i].build_id)
			continue;
		piece_put_step(s->piece, PIECE_KNOWN_MODULE_STEP, i);
		piece_put(s->piece, PIECE_KNOWN_BUILD_ID, r->modules.items[i].build_id);
		err = piece_row(s->piece);
	}
	return err;
}

/* What the seconds do not hold. */
static int end_undated(struct weft_stream *s, const struct reading *r)
{
	const struct timeline *timeline = &r->timeline;
	AUTO_FREE uint64_t *dated = calloc(timeline->uses.n + 1, sizeof(*dated));
	int err = 0;

	if (!timeline->undated)
		return 0;
	if (!dated)
		return fail(-ENOMEM, "no memory for %zu uses", timeline->uses.n);
	timeline_dated(timeline, dated);
	for (size_t i = 0; !err && i < timeline->uses.n; i++) {
		if (timeline->counts.items[i] == dated[i])
			continue;
		piece_put(s->piece, PIECE_UNDATED_USE, i);
		piece_put(s->piece, PIECE_UNDATED_COUNT,
			  timeline->counts.items[i] - dated[i]);
		err = piece_row(s->piece);
	}
	return err;
}

static int end_counts(struct weft_stream *s, const struct reading *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->ledger.n; i++) {
		AUTO_STR text = { 0 };

		proto_add_uint(&text, COUNT_KEY, r->ledger.items[i].key);
		proto_add_uint(&text, COUNT_VALUE, r->ledger.items[i].value);
		err = str_error(&text);
		if (!err)
			piece_put_item(s->piece, PIECE_LEDGER, text.s, text.n);
	}
	piece_put_number(s->piece, PIECE_VALUE_TYPE, r->value_type);
	piece_put_number(s->piece, PIECE_VALUE_UNIT, r->value_unit);
	piece_put_number(s->piece, PIECE_PERIOD_NS, r->period_ns);
	piece_put_number(s->piece, PIECE_ONE_VIEW, r->one_view);
	piece_put_number(s->piece, PIECE_LEFT_OUT, r->left_out);
	piece_put_number(s->piece, PIECE_COMPLETE, !r->was_cut);
	return err;
}

static int weft_stream_end(struct stream *stream, const struct reading *r)
{
	struct weft_stream *s = (struct weft_stream *)stream;
	int err = weft_stream_add(stream, r, &r->timeline);

	if (!err)
		err = end_frames(s, r);
	if (!err)
		err = end_stacks(s, r);
	if (!err)
		err = end_modules(s, r);
	if (!err)
		err = end_undated(s, r);
	if (!err)
		err = piece_write(s->piece);
	if (!err)
		err = add_runs(s, r);
	if (!err)
		err = end_counts(s, r);
	return err ? err : piece_write(s->piece);
}

static void weft_stream_free(struct stream *stream)
{
	struct weft_stream *s = (struct weft_stream *)stream;

	if (!s)
		return;
	piece_free(s->piece);
	vec_free(&s->build_ids);
	vec_free(&s->names);
	vec_free(&s->stacks);
	free(s);
}

static uint64_t weft_stream_bytes(const struct stream *stream)
{
	return piece_bytes_written(((const struct weft_stream *)stream)->piece);
}

/* What each new reading has is understood: its first strings, the root of the
 * tree, and number 0 of modules, processes and threads. */
static int weft_stream(struct stream **ret, struct outfile *out)
{
	static const struct stream calls = { weft_stream_add, weft_stream_end,
					     weft_stream_bytes, weft_stream_free };
	struct weft_stream *s = calloc(1, sizeof(*s));
	AUTO(stream) stream = s ? &s->stream : NULL;
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory to write");
	s->stream = calls;
	err = piece_new(&s->piece, out);
	if (!err)
		err = vec_push(&s->build_ids, 0);
	if (err)
		return err;
	s->strings = READING_STRINGS_GIVEN;
	s->nodes = s->processes = s->threads = 1;
	*ret = GIVE(stream);
	return 0;
}

static int weft_write(struct outfile *out, const struct reading *reading,
		      const struct writer_options *options)
{
	AUTO(stream) stream = NULL;
	int err = weft_stream(&stream, out);

	return err ? err : weft_stream_end(stream, reading);
}

const struct writer weft_writer = {
	.name = "weft",
	.endings = { ".weft" },
	.text = "A recording.",
	.next = "weft report",
	.takes_usual = true,
	.stream = weft_stream,
	.write = weft_write,
};
