// SPDX-License-Identifier: BSD-2-Clause
/* A recording on its way into a file, docs/format.md: a batch a second. */
#include "base/error.h"
#include "base/proto.h"
#include "format/weft/weft_write_batch.h"
#include "format/writer.h"

#include <errno.h>
#include <string.h>

/* What is known of a frame at the end only. */
struct named {
	uint32_t name, file, line;
};

struct weft_stream {
	struct stream stream; /* first: what others know of it */
	struct batch *batch;
	/* how much of each was written */
	size_t strings, nodes, attributes, processes, threads, sample_keys, log, runs;
	struct timeline_cursor at;
	VEC(uint32_t) build_ids;	  /* as written, by module */
	VEC(struct named) names;	  /* as written, by frame */
	VEC(struct profile_stack) stacks; /* as written */
};

static int add_strings(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (; !err && s->strings < intern_count(r->strings); s->strings++) {
		size_t n;
		const void *bytes = intern_bytes(r->strings, (uint32_t)s->strings, &n);

		batch_put_item(s->batch, BATCH_STRINGS, bytes, n);
		err = batch_row(s->batch);
	}
	return err;
}

static int add_modules(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	while (!err && s->build_ids.n < r->modules.n) {
		const struct profile_module *m = &r->modules.items[s->build_ids.n];

		batch_put(s->batch, BATCH_MODULE_PATH, m->path);
		batch_put(s->batch, BATCH_MODULE_BUILD_ID, m->build_id);
		err = vec_push(&s->build_ids, m->build_id);
		if (!err)
			err = batch_row(s->batch);
	}
	return err;
}

static struct named named(const struct profile_frame *frame)
{
	return (struct named){ frame->name, frame->file, frame->line };
}

static int add_frames(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	while (!err && s->names.n < r->frames.n) {
		const struct profile_frame *f = &r->frames.items[s->names.n];

		batch_put(s->batch, BATCH_FRAME_OFFSET, f->offset);
		batch_put(s->batch, BATCH_FRAME_MODULE, f->module);
		batch_put(s->batch, BATCH_FRAME_TYPE, f->type << 1 | f->returned);
		batch_put(s->batch, BATCH_FRAME_NAME, f->name);
		batch_put(s->batch, BATCH_FRAME_FILE, f->file);
		batch_put(s->batch, BATCH_FRAME_LINE, f->line);
		err = vec_push(&s->names, named(f));
		if (!err)
			err = batch_row(s->batch);
	}
	return err;
}

static int add_nodes(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (; !err && s->nodes < r->nodes.n; s->nodes++) {
		struct pair node = r->nodes.items[s->nodes];

		batch_put(s->batch, BATCH_NODE_UP, s->nodes - 1 - node.a);
		batch_put_code(s->batch, node.b);
		err = batch_row(s->batch);
	}
	return err;
}

static void put_stack(struct batch *batch, const struct profile_stack *stack, bool again)
{
	uint32_t async = stack->node[VIEW_ASYNC], thread = stack->node[VIEW_THREAD];

	batch_put_step(batch, again ? BATCH_AGAIN_ASYNC_STEP : BATCH_STACK_ASYNC_STEP,
		       async);
	batch_put(batch, again ? BATCH_AGAIN_THREAD : BATCH_STACK_THREAD,
		  zigzag((int64_t)async - thread));
	batch_put(batch, again ? BATCH_AGAIN_NOTES : BATCH_STACK_NOTES,
		  stack->notes & STACK_NOTES_KEPT);
	batch_put(batch, again ? BATCH_AGAIN_HOOK : BATCH_STACK_HOOK, stack->hook);
}

static void put_trace(struct batch *batch, uint32_t id, const struct profile_stack *stack)
{
	batch_put_step(batch, BATCH_TRACED_STACK_STEP, id);
	batch_put(batch, BATCH_TRACED_TRACE, stack->trace);
	batch_put(batch, BATCH_TRACED_SPAN, stack->span);
	batch_put(batch, BATCH_TRACED_ATTRIBUTE, stack->attributes);
}

/* Number 0 is none. */
static int add_attributes(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	while (!err && ++s->attributes < r->attributes.n) {
		const struct profile_attribute *a = &r->attributes.items[s->attributes];

		batch_put(s->batch, BATCH_ATTRIBUTE_KEY, a->key);
		batch_put(s->batch, BATCH_ATTRIBUTE_VALUE, a->value);
		batch_put(s->batch, BATCH_ATTRIBUTE_NEXT, a->next);
		err = batch_row(s->batch);
	}
	s->attributes = r->attributes.n - 1;
	return err;
}

static int add_stacks(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	while (!err && s->stacks.n < r->stacks.n) {
		const struct profile_stack *stack = &r->stacks.items[s->stacks.n];

		put_stack(s->batch, stack, false);
		if (stack->trace || stack->attributes)
			put_trace(s->batch, (uint32_t)s->stacks.n, stack);
		err = vec_push(&s->stacks, *stack);
		if (!err)
			err = batch_row(s->batch);
	}
	return err;
}

static int add_owners(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (; !err && s->processes < r->processes.n; s->processes++) {
		const struct profile_process *p = &r->processes.items[s->processes];

		batch_put(s->batch, BATCH_PROCESS_HOST, p->host);
		batch_put(s->batch, BATCH_PROCESS_PID, p->pid);
		batch_put(s->batch, BATCH_PROCESS_NAME, p->name);
		batch_put(s->batch, BATCH_PROCESS_CGROUP, p->cgroup);
		batch_put(s->batch, BATCH_PROCESS_INCARNATION, p->incarnation);
		err = batch_row(s->batch);
	}
	for (; !err && s->threads < r->threads.n; s->threads++) {
		const struct profile_thread *t = &r->threads.items[s->threads];

		batch_put(s->batch, BATCH_THREAD_PROCESS, t->process);
		batch_put(s->batch, BATCH_THREAD_TID, t->tid);
		batch_put(s->batch, BATCH_THREAD_NAME, t->name);
		err = batch_row(s->batch);
	}
	return err;
}

/* As much of the log at once as makes a batch, whole seconds. */
static int add_log(struct weft_stream *s, const struct timeline *timeline)
{
	struct timeline_sample sample;
	int err = 0;

	while (!err && s->log < timeline->log.n) {
		size_t end = s->log;

		while (end - s->log < BATCH_RAW_USUALLY &&
		       timeline_next(timeline, &s->at, &sample))
			if (!s->at.left)
				end = s->at.at;
		while (s->at.left && timeline_next(timeline, &s->at, &sample))
			end = s->at.at;
		if (end == s->log)
			return fail(-EINVAL, "a timeline that ends too soon");
		batch_put_bytes(s->batch, BATCH_LOG, timeline->log.s + s->log,
				end - s->log);
		s->log = end;
		err = batch_row(s->batch);
	}
	return err;
}

static int add_uses(struct weft_stream *s, const struct timeline *timeline)
{
	int err = 0;

	for (; !err && s->sample_keys < timeline->sample_keys.n; s->sample_keys++) {
		struct pair sample_key = timeline->sample_keys.items[s->sample_keys];

		batch_put_step(s->batch, BATCH_SAMPLE_KEY_STACK_STEP, sample_key.a);
		batch_put_step(s->batch, BATCH_SAMPLE_KEY_THREAD_STEP, sample_key.b);
		err = batch_row(s->batch);
	}
	return err ? err : add_log(s, timeline);
}

static int add_run(struct weft_stream *s, const struct profile_run *run)
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
		batch_put_item(s->batch, BATCH_RUNS, text.s, text.n);
	return err;
}

static int add_runs(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->runs.n; i++)
		err = add_run(s, &r->runs.items[i]);
	s->runs = r->runs.n;
	return err;
}

static int weft_stream_add(struct stream *stream, const struct profile *r,
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
		err = add_attributes(s, r);
	if (!err)
		err = add_stacks(s, r);
	if (!err)
		err = add_owners(s, r);
	if (!err)
		err = add_uses(s, timeline);
	if (!err && s->runs != r->runs.n)
		err = add_runs(s, r);
	return err ? err : batch_write(s->batch);
}

static int end_frames(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->names.n; i++) {
		struct named now = named(&r->frames.items[i]);

		if (!memcmp(&s->names.items[i], &now, sizeof(now)))
			continue;
		batch_put_step(s->batch, BATCH_NAMED_FRAME_STEP, i);
		batch_put(s->batch, BATCH_NAMED_NAME, now.name);
		batch_put(s->batch, BATCH_NAMED_FILE, now.file);
		batch_put(s->batch, BATCH_NAMED_LINE, now.line);
		err = batch_row(s->batch);
	}
	return err;
}

static int end_stacks(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->stacks.n; i++) {
		if (!memcmp(&s->stacks.items[i], &r->stacks.items[i],
			    sizeof(struct profile_stack)))
			continue;
		batch_put_step(s->batch, BATCH_AGAIN_STACK_STEP, i);
		put_stack(s->batch, &r->stacks.items[i], true);
		err = batch_row(s->batch);
	}
	return err;
}

static int end_modules(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->build_ids.n; i++) {
		const struct profile_module *m = &r->modules.items[i];

		if (s->build_ids.items[i] == m->build_id && !m->bias)
			continue;
		batch_put_step(s->batch, BATCH_KNOWN_MODULE_STEP, i);
		batch_put(s->batch, BATCH_KNOWN_BUILD_ID, m->build_id);
		batch_put(s->batch, BATCH_KNOWN_BIAS, m->bias);
		err = batch_row(s->batch);
	}
	return err;
}

static int add_undated(void *arg, uint32_t sample_key, struct timeline_amount amount)
{
	const struct weft_stream *s = arg;

	batch_put(s->batch, BATCH_UNDATED_SAMPLE_KEY, sample_key);
	batch_put(s->batch, BATCH_UNDATED_COUNT, amount.count);
	batch_put(s->batch, BATCH_UNDATED_WEIGHT_NS, amount.weight_ns);
	return batch_row(s->batch);
}

static int end_counts(struct weft_stream *s, const struct profile *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->ledger.n; i++) {
		AUTO_STR text = { 0 };

		proto_add_uint(&text, COUNT_KEY, r->ledger.items[i].key);
		proto_add_uint(&text, COUNT_VALUE, r->ledger.items[i].value);
		err = str_error(&text);
		if (!err)
			batch_put_item(s->batch, BATCH_LEDGER, text.s, text.n);
	}
	batch_put_number(s->batch, BATCH_VALUE_TYPE, r->value_type);
	batch_put_number(s->batch, BATCH_VALUE_UNIT, r->value_unit);
	batch_put_number(s->batch, BATCH_PERIOD_NS, r->period_ns);
	batch_put_number(s->batch, BATCH_ONE_VIEW, r->one_view);
	batch_put_number(s->batch, BATCH_DROPPED, r->left_out);
	batch_put_number(s->batch, BATCH_COMPLETE, !r->was_cut);
	return err;
}

static int weft_stream_end(struct stream *stream, const struct profile *r)
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
		err = timeline_each_undated(&r->timeline, add_undated, s);
	if (!err)
		err = batch_write(s->batch);
	if (!err)
		err = add_runs(s, r);
	if (!err)
		err = end_counts(s, r);
	return err ? err : batch_write(s->batch);
}

static void weft_stream_free(struct stream *stream)
{
	struct weft_stream *s = (struct weft_stream *)stream;

	if (!s)
		return;
	batch_free(s->batch);
	vec_free(&s->build_ids);
	vec_free(&s->names);
	vec_free(&s->stacks);
	free(s);
}

static uint64_t weft_stream_bytes(const struct stream *stream)
{
	return batch_bytes_written(((const struct weft_stream *)stream)->batch);
}

/* What each new profile has is understood: its first strings, the root of the
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
	err = batch_new(&s->batch, out);
	if (!err)
		err = vec_push(&s->build_ids, 0);
	if (err)
		return err;
	s->strings = PROFILE_STRINGS_GIVEN;
	s->nodes = s->processes = s->threads = 1;
	*ret = GIVE(stream);
	return 0;
}

static int weft_write(struct outfile *out, const struct profile *profile,
		      const struct writer_options *options)
{
	AUTO(stream) stream = NULL;
	int err = weft_stream(&stream, out);

	return err ? err : weft_stream_end(stream, profile);
}

const struct writer weft_writer = {
	.name = "weft",
	.endings = { ".weft" },
	.text = "A recording: everything measured.",
	.next = "weft report",
	.takes_usual = true,
	.stream = weft_stream,
	.write = weft_write,
};
