// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/pipeline.h"

#include "base/error.h"
#include "core/sample.h"
#include "pipeline/queue.h"
#include "shared/knobs.h"

#include <errno.h>
#include <string.h>

struct pipeline {
	struct module_table *modules;
	struct process_table *processes;
	struct replaced *replaced;
	struct pipeline_sink sink;
	struct queue queue;
	uint64_t first_sample_ns;
	/* a sample, as far as its rules were true */
	struct {
		struct sample_rec head;
		unsigned long long words[RECORD_WORDS_MAX];
	} cut;
};

/* What ended is remembered this long: its samples may be a batch behind. */
#define FORGET_AFTER_NS 2000000000ULL

int pipeline_new(struct pipeline **ret, const struct pipeline_sink *sink)
{
	AUTO(pipeline) p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return fail(-ENOMEM, "no memory for the pipeline");
	if (sink)
		p->sink = *sink;
	err = module_table_new(&p->modules);
	if (!err)
		err = process_table_new(&p->processes, p->modules, &p->sink.process);
	if (!err)
		err = replaced_new(&p->replaced);
	if (err)
		return err;
	*ret = GIVE(p);
	return 0;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	process_table_free(p->processes);
	module_table_free(p->modules);
	replaced_free(p->replaced);
	queue_free(&p->queue);
	free(p);
}

static int on_sample(void *arg, const void *record, size_t bytes)
{
	const struct sample_rec *rec = record;
	struct pipeline *p = arg;
	int err = sample_check(rec, bytes);

	return err ? err : queue_add(&p->queue, record, bytes, rec->ts_ns, true);
}

static int on_sideband(void *arg, const void *record, size_t bytes)
{
	struct pipeline *p = arg;

	return queue_add(&p->queue, record, bytes, side_event_time(record, bytes), false);
}

struct event_sink pipeline_input(struct pipeline *p)
{
	return (struct event_sink){ p, on_sample, on_sideband };
}

/* A caller's code lies before its return address, which may be the next mapping's. */
static void tell_awaited(const struct pipeline *p, const struct sample_rec *rec,
			 uint64_t last)
{
	if (last)
		p->sink.awaited(p->sink.process.arg, rec->tgid,
				FRAME_ADDR(last) - (FRAME_KIND(last) != FRAME_USER),
				rec->ts_ns);
}

static bool is_stack_frame(uint64_t word)
{
	return FRAME_KIND(word) == FRAME_USER || FRAME_KIND(word) == FRAME_SYSCALL ||
	       FRAME_KIND(word) == FRAME_CALLER || FRAME_KIND(word) == FRAME_LAUNCH ||
	       FRAME_KIND(word) == FRAME_RESUMER || FRAME_KIND(word) == FRAME_UNPROVEN;
}

/* Wherever a stack's walk ended for want of a table, at last or to be taken up again
 * from a root: the frame there. */
static void find_awaited(const struct pipeline *p, const struct sample_rec *rec)
{
	unsigned int end = rec->n_kernel + rec->n_thread, ending = rec->ending;
	uint64_t last = 0;

	for (unsigned int i = rec->n_kernel; i <= rec->n_words; i++) {
		if (i == end) { /* of the thread's words, or a segment's */
			if (ending == END_AWAITED)
				tell_awaited(p, rec, last);
			if (i == rec->n_words)
				return;
			ending = SEGMENT_ENDING(rec->words[i]);
			end = i + 1 + SEGMENT_COUNT(rec->words[i]);
			last = 0;
		} else if (is_stack_frame(rec->words[i])) {
			last = rec->words[i];
		} else if (FRAME_KIND(rec->words[i]) == FRAME_GAP &&
			   GAP_ENDING(rec->words[i]) == END_AWAITED) {
			tell_awaited(p, rec, last);
		}
	}
}

/*
 * A pid that was used again, and the new process's records were lost: whatever is known
 * of the older one would name its frames falsely. That /proc is read again mends it.
 */
static const struct process *sampled_process(const struct pipeline *p,
					     const struct sample_rec *rec)
{
	const struct process *process = process_get(p->processes, rec->tgid);

	return process && rec->begun_ns > process->born_ns ? NULL : process;
}

/* Of its stacks' words only n are true: some of the thread's, or all of these and some of
 * segments. What is said of the trace stays. */
static const struct sample_rec *cut_behind(struct pipeline *p,
					   const struct sample_rec *rec, unsigned int n)
{
	unsigned int stack = sample_stack_words(rec), more = rec->n_words - stack;
	unsigned int thread = rec->n_kernel + rec->n_thread;
	struct sample_rec *cut = &p->cut.head;

	*cut = *rec;
	if (n < thread) {
		cut->n_thread = (unsigned short)(n - rec->n_kernel);
		cut->ending = END_AWAITED;
	} else {
		n = thread;
	}
	memcpy(cut->words, rec->words, n * sizeof(*rec->words));
	memcpy(cut->words + n, rec->words + stack, more * sizeof(*rec->words));
	cut->n_words = (unsigned short)(n + more);
	return cut;
}

/* Up to its first frame in code whose rules came too late, if there is one: what it
 * led to by other rules is no caller. */
static const struct sample_rec *cut_stale(struct pipeline *p,
					  const struct sample_rec *rec)
{
	if (replaced_is_empty(p->replaced, rec->tgid))
		return rec;
	for (unsigned int i = rec->n_kernel; i < sample_stack_words(rec); i++) {
		uint64_t word = rec->words[i];
		uint64_t at = FRAME_ADDR(word) - (FRAME_KIND(word) != FRAME_USER);

		if (is_stack_frame(word) &&
		    replaced_is_stale(p->replaced, rec->tgid, at, rec->ts_ns))
			return cut_behind(p, rec, i + 1);
	}
	return rec;
}

static int process_sample(struct pipeline *p, const struct sample_rec *rec)
{
	const struct process *process = sampled_process(p, rec);

	if (!p->first_sample_ns)
		p->first_sample_ns = rec->ts_ns;
	if (process)
		process_seen(p->processes, rec->tgid, rec->ts_ns);
	if (rec->flags & SAMPLE_STALE && p->sink.stale)
		p->sink.stale(p->sink.process.arg, rec->tgid);
	if (rec->flags & SAMPLE_AWAITED && p->sink.awaited)
		find_awaited(p, rec);
	if (!p->sink.sample)
		return 0;
	return p->sink.sample(p->sink.process.arg, cut_stale(p, rec), process);
}

static int process_sideband(struct pipeline *p, const void *record, size_t bytes)
{
	struct side_event event;
	int err = side_event_read(&event, record, bytes);

	return err ? err : process_apply(p->processes, &event);
}

int pipeline_advance(struct pipeline *p, uint64_t horizon_ns)
{
	const struct queued *event;
	const void *bytes;
	int err = 0;

	while (!err && (event = queue_next(&p->queue, horizon_ns, &bytes))) {
		err = event->is_sample ? process_sample(p, bytes)
				       : process_sideband(p, bytes, event->n);
		if (!err)
			err = queue_drop_next(&p->queue);
	}
	if (!err && horizon_ns > FORGET_AFTER_NS && horizon_ns != UINT64_MAX)
		process_forget(p->processes, horizon_ns - FORGET_AFTER_NS);
	return err;
}

struct replaced *pipeline_replaced(struct pipeline *p)
{
	return p->replaced;
}

struct module_table *pipeline_modules(struct pipeline *p)
{
	return p->modules;
}

struct process_table *pipeline_processes(struct pipeline *p)
{
	return p->processes;
}

uint64_t pipeline_first_sample_ns(const struct pipeline *p)
{
	return p->first_sample_ns;
}
