/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made-up events (made_events.h) played through a pipeline into windows, which are
 * closed wherever a test says so; within cmocka's tests. What was in them is counted
 * together.
 */
#ifndef TESTS_UNIT_MADE_RUN_H
#define TESTS_UNIT_MADE_RUN_H

#include "base/intern.h"
#include "core/merge.h"
#include "kern/ledger.h"
#include "made_events.h"
#include "pipeline/pipeline.h"
#include "pipeline/profile_builder.h"
#include "record/windows.h"

#include <inttypes.h>
#include <stdlib.h>

#define HELD_MAX 5 /* windows that are closed, and not read yet */

/* How often each line was there. */
struct tally {
	struct intern *lines;
	VEC(uint64_t) counts;
	uint64_t total;
};

static inline void tally_add(struct tally *tally, const char *line, uint64_t count)
{
	uint32_t id;

	if (!tally->lines)
		assert_int_equal(intern_new(&tally->lines, 1u << 20), 0);
	assert_int_equal(intern_id(tally->lines, line, strlen(line), &id), 0);
	if (id == tally->counts.n)
		assert_int_equal(vec_push(&tally->counts, 0), 0);
	tally->counts.items[id] += count;
	tally->total += count;
}

static inline void tally_free(struct tally *tally)
{
	intern_free(tally->lines);
	vec_free(&tally->counts);
}

static inline void tallies_are_equal(const struct tally *a, struct tally *b)
{
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->counts.n, b->counts.n);
	for (uint32_t i = 0; i < a->counts.n; i++) {
		const char *line = intern_string(a->lines, i);
		uint32_t id;

		if (!intern_has(b->lines, line, strlen(line)))
			print_error("only in one: %s\n", line);
		assert_true(intern_has(b->lines, line, strlen(line)));
		assert_int_equal(intern_id(b->lines, line, strlen(line), &id), 0);
		if (a->counts.items[i] != b->counts.items[id])
			print_error("not as often: %s\n", line);
		assert_int_equal(a->counts.items[i], b->counts.items[id]);
	}
}

/* Adds a view, leaf first. */
static inline void add_path(struct str *line, const struct profile *r, uint32_t node)
{
	for (; node; node = profile_parent(r, node))
		str_addf(line, " %s", profile_code_name(r, profile_code(r, node)));
}

static inline void tally_profile(struct tally *whole, struct tally *leaves,
				 const struct profile *r)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;

	while (timeline_next(&r->timeline, &at, &sample)) {
		const struct profile_stack *stack = &r->stacks.items[sample.stack];
		const struct profile_thread *thread = &r->threads.items[sample.thread];
		const struct profile_process *process =
			&r->processes.items[thread->process];
		AUTO_STR line = { 0 };

		str_addf(&line, "%u %u %u", process->pid, thread->tid, sample.second);
		str_addf(&line, " %s",
			 profile_code_name(r, profile_code(r, stack->node[VIEW_THREAD])));
		assert_int_equal(str_error(&line), 0);
		tally_add(leaves, line.s, sample.count);
		str_addf(&line, " life %u %s |", process->incarnation,
			 profile_string(r, thread->name));
		add_path(&line, r, stack->node[VIEW_THREAD]);
		str_add(&line, " |");
		add_path(&line, r, stack->node[VIEW_ASYNC]);
		assert_int_equal(str_error(&line), 0);
		tally_add(whole, line.s, sample.count);
	}
}

#define MADE_HZ 99

/* A run over a machine's events. */
struct run {
	struct pipeline *pipeline;
	struct module_table *modules;
	struct windows windows;
	struct recorded_window *held[HELD_MAX];
	unsigned int n_held;
	struct sampler_totals ticks; /* as BPF would have counted */
	struct sampler_totals sums;  /* of the windows */
	struct tally whole, leaves;
	struct profile *merged;
	uint64_t flags_async, endings[N_ENDINGS], chains;
	size_t steps, n_windows, let_go;
	bool (*closes)(const struct run *run);
	size_t closes_at;
};

static inline int on_counted(void *arg, const struct sample_rec *rec,
			     const struct process *process)
{
	struct run *run = arg;

	return window_add(run->windows.open->window, rec, process);
}

static inline void on_let_go(void *arg, uint32_t module)
{
	struct run *run = arg;

	run->let_go++;
}

/* As a recording does now and then; here each time. */
static inline void trim(struct run *run)
{
	process_mark_modules(pipeline_processes(run->pipeline));
	assert_int_equal(module_trim(run->modules, on_let_go, run), 0);
}

static inline bool adds_up(const struct recorded_window *w)
{
	const struct aggregator *aggregator = window_aggregator(w->window);
	const struct ledger *ledger = &w->totals.ledgers[HOOK_ONCPU];
	uint64_t outcomes = 0, endings = 0;

	for (int i = 0; i < N_OUTCOMES; i++)
		outcomes += ledger->outcomes[i];
	for (int i = 0; i < N_ENDINGS; i++)
		endings += ledger->endings[i];
	return outcomes == ledger->entered && endings == ledger->outcomes[OUTCOME_KEPT] &&
	       aggregator->samples.total == ledger->outcomes[OUTCOME_KEPT];
}

/* What a window comes to, long after it was closed; then it is gone. */
static inline void read_window(struct run *run, struct recorded_window *w)
{
	const struct aggregator *aggregator = window_aggregator(w->window);
	AUTO(profile_builder) builder = NULL;

	run->flags_async += aggregator->samples.async;
	for (int i = 0; i < N_ENDINGS; i++) {
		run->endings[i] += aggregator->by_hook[HOOK_ONCPU].endings[i];
		run->chains += aggregator->chain_endings[i];
	}
	ledger_add(&run->sums.ledgers[HOOK_ONCPU], &w->totals.ledgers[HOOK_ONCPU]);
	assert_int_equal(
		profile_builder_new(&builder, window_aggregator(w->window), run->modules),
		0);
	assert_int_equal(profile_builder_finish(builder, NULL), 0);
	tally_profile(&run->whole, &run->leaves, profile_builder_profile(builder));
	assert_int_equal(profile_merge(run->merged, profile_builder_profile(builder)), 0);
	recorded_window_free(w);
}

/* Made-up seconds are those of the clock. */
static inline void use_made_clock(struct run *run)
{
	window_aggregator(run->windows.open->window)->unix_offset_ns = 0;
}

static inline void close_window(struct run *run, bool is_last)
{
	struct recorded_window *w;

	assert_int_equal(windows_close(&run->windows, &run->ticks, is_last, &w), 0);
	if (!is_last)
		use_made_clock(run);
	run->n_windows++;
	if (!is_last) {
		assert_true(adds_up(w));
		assert_true(w->on_their_way >= 0);
	}
	if (run->n_held == HELD_MAX) {
		read_window(run, run->held[0]);
		memmove(run->held, run->held + 1, sizeof(run->held) - sizeof(*run->held));
		run->n_held--;
	}
	run->held[run->n_held++] = w;
	trim(run);
}

static inline void step(struct run *run)
{
	run->steps++;
	if (run->closes(run))
		close_window(run, false);
}

/* A sample's tick, and others that left none; one is always under way. */
static inline void tick(struct run *run, const struct sample_rec *rec)
{
	struct ledger *ledger = &run->ticks.ledgers[HOOK_ONCPU];

	ledger->outcomes[OUTCOME_KEPT]++;
	ledger->endings[rec->ending]++;
	ledger->outcomes[OUTCOME_IDLE] += 3;
	ledger->outcomes[OUTCOME_RING_FULL] += rec->ts_ns % 5 == 0;
	ledger->kernel.walked += 2;
	ledger->kernel.checked += rec->ts_ns % 3 == 0;
	ledger->kernel.differed += rec->ts_ns % 7 == 0;
	ledger->entered += 4 + (rec->ts_ns % 5 == 0) + (ledger->entered == 0);
}

static inline int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A round was read: what fell in it is processed, an event at a time. */
static inline void advance(struct run *run, const struct made_event *events, size_t n)
{
	uint64_t *times = calloc(n, sizeof(*times));

	assert_non_null(times);
	for (size_t i = 0; i < n; i++)
		times[i] = events[i].time_ns;
	qsort(times, n, sizeof(*times), by_time);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(pipeline_advance(run->pipeline, times[i]), 0);
		step(run);
	}
	free(times);
}

static inline void hear(struct run *run, const struct made_machine *m,
			const struct made_event *event)
{
	const struct event_sink input = pipeline_input(run->pipeline);
	const void *bytes = m->bytes.s + event->at;

	if (event->is_sample) {
		tick(run, bytes);
		assert_int_equal(input.sample(input.arg, bytes, event->n), 0);
	} else {
		assert_int_equal(input.sideband(input.arg, bytes, event->n), 0);
	}
	step(run);
}

static inline void begin(struct run *run)
{
	const struct pipeline_sink sink = { .process.arg = run, .sample = on_counted };

	assert_int_equal(pipeline_new(&run->pipeline, &sink), 0);
	run->modules = pipeline_modules(run->pipeline);
	assert_int_equal(windows_begin(&run->windows, run->modules,
				       pipeline_processes(run->pipeline), MADE_HZ),
			 0);
	use_made_clock(run);
	assert_int_equal(profile_new(&run->merged), 0);
}

static inline void end(struct run *run)
{
	assert_int_equal(pipeline_advance(run->pipeline, UINT64_MAX), 0);
	run->ticks.ledgers[HOOK_ONCPU]
		.entered--; /* the one that was under way left no trace */
	close_window(run, true);
	assert_true(adds_up(run->held[run->n_held - 1]));
	for (unsigned int i = 0; i < run->n_held; i++)
		read_window(run, run->held[i]);
	assert_int_equal(profile_finish(run->merged), 0);
}

static inline void end_free(struct run *run)
{
	windows_end(&run->windows);
	pipeline_free(run->pipeline);
	profile_free(run->merged);
	tally_free(&run->whole);
	tally_free(&run->leaves);
}

static inline void play(struct run *run, const struct made_machine *m)
{
	begin(run);
	for (size_t i = 0, first = 0; i < m->events.n; i++) {
		hear(run, m, &m->events.items[i]);
		if (i + 1 < m->events.n &&
		    m->events.items[i + 1].round == m->events.items[i].round)
			continue;
		advance(run, &m->events.items[first], i + 1 - first);
		first = i + 1;
	}
	end(run);
}

#endif
