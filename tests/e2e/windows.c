// SPDX-License-Identifier: BSD-2-Clause
/*
 * A real recording in many windows, each closed while sampling goes on, named a module
 * at a time with samples read in between, and gone through. What it says, as JSON, is
 * of all windows together; it ends with 1 where something is lost, twice, or does not
 * add up.
 *
 *	windows N MS PROGRAM ARGUMENT…    until N windows of MS ms were closed, or
 *	                                  PROGRAM has ended
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/signals.h"
#include "base/vec.h"
#include "kern/ledger.h"
#include "pipeline/profile_builder.h"
#include "record/recording.h"
#include "sym/return_check.h"
#include "sym/symbolizer.h"

#define HZ		1999
#define HZ_NOW_AND_THEN 499
#define SAME_RATE	5 /* windows */
#define PUMP_MS		10
#define NAMES_MAX	65536

/* What there is at a time. */
struct held {
	uint64_t unread; /* windows */
	uint64_t modules, processes, descriptors, live_bytes, places, rss_kb;
};

struct naming { /* of the closed window that is first in line */
	struct names *names;
	struct symbolizer *symbolizer;
};

struct test {
	unsigned int n;
	uint64_t window_ns;
	struct record_options options;
	struct signals signals;
	struct recording *recording;
	struct worker *worker; /* for names */
	struct name_cache *cache;
	struct code_verdicts *verdicts;
	VEC(struct recorded_window *) closed; /* and not read yet; in turn */
	struct naming naming;
	uint64_t next_ns;
	uint64_t modules_at_first;
	unsigned int n_closed;
	struct sampler_totals sums;
	uint64_t samples, in_timelines, refused, seen, unnamed;
	int64_t on_their_way_max;
	struct intern *functions;
	VEC(uint64_t) counts; /* of samples whose leaf it is */
	struct held most;
	VEC(struct held) held; /* by window */
	unsigned int faults;
};

#define EXPECT(t, what)                                                                  \
	do {                                                                             \
		if (!(what)) {                                                           \
			fprintf(stderr, "window %u: not so: %s\n", (t)->n_closed,        \
				#what);                                                  \
			(t)->faults++;                                                   \
		}                                                                        \
	} while (0)

static void check_ledger(struct test *t, const struct recorded_window *w, bool is_last)
{
	const struct aggregator *aggregator = window_aggregator(w->window);
	const struct ledger *ledger = &w->totals.ledgers[HOOK_ONCPU];
	uint64_t outcomes = 0, endings = 0;

	for (int i = 0; i < N_OUTCOMES; i++)
		outcomes += ledger->outcomes[i];
	for (int i = 0; i < N_ENDINGS; i++)
		endings += ledger->endings[i];
	EXPECT(t, ledger->entered == outcomes);
	EXPECT(t, ledger->outcomes[OUTCOME_KEPT] == endings);
	EXPECT(t, ledger->outcomes[OUTCOME_KEPT] == aggregator->samples.total);
	EXPECT(t, w->on_their_way >= 0);
	EXPECT(t, w->begun_ns < w->ended_ns);
	/* whatever the rate was before: a window has one, and a sample its period */
	EXPECT(t, !aggregator->period_ns || aggregator->period_ns == SECOND_NS / w->hz);
	EXPECT(t, !aggregator->timeline.weighed_ns);
	if (!is_last && w->on_their_way > t->on_their_way_max)
		t->on_their_way_max = w->on_their_way;
	ledger_add(&t->sums.ledgers[HOOK_ONCPU], ledger);
	t->samples += aggregator->samples.total;
	t->refused += aggregator->samples.refused;
	t->seen += w->processes.seen;
}

static void count_leaves(struct test *t, const struct profile *r)
{
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++) {
		struct pair key = r->timeline.sample_keys.items[i];
		uint32_t node = r->stacks.items[key.a].node[VIEW_THREAD], id;
		const char *name;

		while (node && profile_node_frame(r, node) &&
		       profile_node_frame(r, node)->type == FRAME_TYPE_KERNEL)
			node = profile_parent(r, node);
		name = node ? profile_code_name(r, profile_code(r, node)) : "[kernel]";
		t->unnamed += strstr(name, "+0x") ? r->timeline.counts.items[i] : 0;
		if (intern_id(t->functions, name, strlen(name), &id))
			continue;
		if (id == t->counts.n && vec_push(&t->counts, 0))
			return;
		t->counts.items[id] += r->timeline.counts.items[i];
	}
}

static int read_window(struct test *t, const struct recorded_window *w)
{
	struct recording *r = t->recording;
	struct aggregator *aggregator = window_aggregator(w->window);
	AUTO(profile_builder) builder = NULL;
	uint64_t unread;
	int err = return_check(t->naming.names, aggregator,
			       &(struct return_sources){ pipeline_modules(r->pipeline),
							 r->files, t->verdicts },
			       &unread);

	if (!err)
		err = profile_builder_new(&builder, aggregator,
					  pipeline_modules(r->pipeline));
	if (!err)
		err = profile_builder_finish(builder, t->naming.names);
	if (err)
		return err;
	t->in_timelines += profile_builder_profile(builder)->timeline.total;
	count_leaves(t, profile_builder_profile(builder));
	return 0;
}

static int begin_naming(struct test *t, const struct recorded_window *w)
{
	struct recording *r = t->recording;
	const struct symbol_sources sources = {
		.others_ms = 8000,
		.modules = pipeline_modules(r->pipeline),
		.processes = pipeline_processes(r->pipeline),
		.files = r->files,
		.worker = t->worker,
		.cache = t->cache,
	};
	int err = names_new(&t->naming.names);

	return err ? err
		   : symbolizer_new(&t->naming.symbolizer, t->naming.names,
				    window_aggregator(w->window), &sources);
}

/* A module of the first in line; when that was its last, it is read and let go. */
static int name_more(struct test *t)
{
	int err = 0;

	if (!t->closed.n)
		return 0;
	if (!t->naming.names)
		err = begin_naming(t, t->closed.items[0]);
	if (!err)
		err = symbolizer_step(t->naming.symbolizer);
	if (err)
		return err < 0 ? err : 0;
	err = read_window(t, t->closed.items[0]);
	symbolizer_free(t->naming.symbolizer);
	names_free(t->naming.names);
	t->naming = (struct naming){ 0 };
	recorded_window_free(t->closed.items[0]);
	t->closed.n--;
	memmove(t->closed.items, t->closed.items + 1,
		t->closed.n * sizeof(*t->closed.items));
	name_cache_turn(t->cache);
	return err;
}

static uint64_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint64_t n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

static uint64_t rss_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long size, pages = 0;

	if (f && fscanf(f, "%lu %lu", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint64_t count_processes(const struct process_table *table)
{
	uint64_t n = 0;

	for (size_t i = 0; process_next(table, &i); n++)
		;
	return n;
}

static void raise_to(uint64_t *most, uint64_t now)
{
	if (now > *most)
		*most = now;
}

static struct held look(const struct test *t)
{
	const struct recording *r = t->recording;
	const struct mallinfo2 heap = mallinfo2();

	return (struct held){
		.unread = t->closed.n,
		.modules = module_counts(pipeline_modules(r->pipeline)).now,
		.processes = count_processes(pipeline_processes(r->pipeline)) +
			     count_processes(publisher_processes(r->publisher)),
		.descriptors = count_descriptors(),
		.live_bytes = heap.uordblks + heap.hblkhd,
		.places = name_cache_counts(t->cache).places,
		.rss_kb = rss_kb(),
	};
}

static uint64_t lives_so_far(const struct test *t)
{
	return process_counts(pipeline_processes(t->recording->pipeline))->seen;
}

static void check_held(struct test *t)
{
	const struct held now = look(t);

	if (!t->modules_at_first)
		t->modules_at_first = now.modules;
	raise_to(&t->most.processes, now.processes);
	/* of two rounds, and who lived a moment ago when the last one ended */
	EXPECT(t,
	       now.modules <= t->modules_at_first + t->most.processes + 2 * 1024 + 512);
	EXPECT(t, now.descriptors <= now.modules + 128);
	raise_to(&t->most.modules, now.modules);
	raise_to(&t->most.descriptors, now.descriptors);
	raise_to(&t->most.live_bytes, now.live_bytes);
	raise_to(&t->most.places, now.places);
	raise_to(&t->most.rss_kb, now.rss_kb);
	EXPECT(t, !vec_push(&t->held, now));
}

static int close_window(struct test *t, bool is_last)
{
	unsigned int round = (t->n_closed + 1) / SAME_RATE;
	struct recorded_window *w;
	int err;

	if (is_last || (t->n_closed + 1) % SAME_RATE)
		err = recording_close_window(t->recording, is_last, &w);
	else
		err = recording_set_hz(t->recording, round % 2 ? HZ_NOW_AND_THEN : HZ,
				       &w);
	if (err)
		return err;
	t->n_closed++;
	t->next_ns = clock_now_ns() + t->window_ns;
	check_ledger(t, w, is_last);
	check_held(t);
	return vec_push(&t->closed, w);
}

static int loop(struct test *t)
{
	struct recording *r = t->recording;
	int err = 0;

	t->next_ns = clock_now_ns() + t->window_ns;
	while (!err && t->n_closed < t->n && !command_poll(&r->command)) {
		struct pollfd fd = { .fd = sampler_fd(r->sampler), .events = POLLIN };

		if (poll(&fd, 1, t->closed.n ? 0 : PUMP_MS) < 0 && errno != EINTR)
			return fail_errno(-errno, "poll");
		err = recording_pump(r);
		if (!err && clock_now_ns() >= t->next_ns)
			err = close_window(t, false);
		if (!err)
			err = name_more(t);
	}
	return err;
}

static void check_totals(struct test *t)
{
	struct sampler_totals totals = { 0 };

	EXPECT(t, !sampler_totals(t->recording->sampler, &totals));
	EXPECT(t, !memcmp(&t->sums.ledgers[HOOK_ONCPU], &totals.ledgers[HOOK_ONCPU],
			  sizeof(totals.ledgers[HOOK_ONCPU])));
	EXPECT(t, t->samples == totals.ledgers[HOOK_ONCPU].outcomes[OUTCOME_KEPT]);
	EXPECT(t, t->in_timelines + t->refused == t->samples);
	EXPECT(t, t->seen == lives_so_far(t));
}

static int record(struct test *t)
{
	int err = recording_new(&t->recording, &t->options, &t->signals);

	if (!err)
		err = recording_start(t->recording);
	if (!err)
		err = loop(t);
	if (!err)
		err = recording_stop(t->recording);
	if (!err)
		err = recording_drain(t->recording, true);
	if (!err)
		err = close_window(t, true);
	while (!err && t->closed.n)
		err = name_more(t);
	return err;
}

static bool is_less(const struct held *a, const struct held *b)
{
	return a->unread != b->unread ? a->unread < b->unread
				      : a->live_bytes < b->live_bytes;
}

/* When there was least, of some of the windows: between two storms, and, where a busy
 * machine lets windows wait for their names, when the fewest did. */
static const struct held *least(const struct test *t, size_t from, size_t to)
{
	const struct held *least = &t->held.items[from];

	for (size_t i = from; i < to; i++)
		if (is_less(&t->held.items[i], least))
			least = &t->held.items[i];
	return least;
}

static void say_held(const char *key, const struct held *held)
{
	printf("\"%s\":{\"unread\":%" PRIu64 ",\"modules\":%" PRIu64
	       ",\"processes\":%" PRIu64 ",\"descriptors\":%" PRIu64
	       ",\"live_bytes\":%" PRIu64 ",\"places\":%" PRIu64 ",\"rss_kb\":%" PRIu64
	       "},\n",
	       key, held->unread, held->modules, held->processes, held->descriptors,
	       held->live_bytes, held->places, held->rss_kb);
}

static void say(const struct test *t)
{
	const struct ledger *ledger = &t->sums.ledgers[HOOK_ONCPU];
	const struct module_table *modules = pipeline_modules(t->recording->pipeline);
	const struct process_counts *processes =
		process_counts(pipeline_processes(t->recording->pipeline));
	size_t n = t->held.n;

	printf("{\"windows\":%u,\"samples\":%" PRIu64 ",\"unnamed\":%" PRIu64
	       ",\"entered\":%llu,\"ring_full\":%llu,\"on_their_way\":%" PRId64
	       ",\"lives\":%" PRIu64 ",\"records_lost\":%" PRIu64
	       ",\"modules_let_go\":%" PRIu64 ",\n",
	       t->n_closed, t->samples, t->unnamed, ledger->entered,
	       ledger->outcomes[OUTCOME_RING_FULL], t->on_their_way_max, t->seen,
	       (uint64_t)processes->lost, module_counts(modules).let_go);
	say_held("most", &t->most);
	say_held("early", least(t, n * 2 / 5, n * 3 / 5));
	say_held("late", least(t, n * 4 / 5, n));
	printf("\"leaves\":{\"\":0");
	for (uint32_t i = 0; i < t->counts.n; i++)
		if (t->counts.items[i] * 1000 > t->samples)
			printf(",\"%s\":%" PRIu64, intern_string(t->functions, i),
			       t->counts.items[i]);
	puts("}}");
}

static int run(struct test *t)
{
	int err = worker_new(&t->worker);

	if (!err)
		err = name_cache_new(&t->cache);
	if (!err)
		err = code_verdicts_new(&t->verdicts);
	if (!err)
		err = intern_new(&t->functions, NAMES_MAX);
	if (!err)
		err = signals_take(&t->signals);
	if (!err)
		err = record(t);
	if (t->recording && t->recording->command.pid > 0)
		kill(t->recording->command.pid, SIGKILL);
	if (err) {
		fprintf(stderr, "windows: %s\n", error_sentence());
		return 3;
	}
	check_totals(t);
	say(t);
	recording_free(t->recording);
	name_cache_free(t->cache);
	code_verdicts_free(t->verdicts);
	worker_free(t->worker);
	return t->faults != 0;
}

int main(int argc, char **argv)
{
	struct test t = { .options = {
				  .hz = HZ,
				  .max_frames = FRAMES_DEFAULT,
				  .unwind_mb = UNWIND_MB_DEFAULT,
				  .unwind_cache = "none",
				  .command = argv + 3,
			  } };

	if (argc < 4)
		return 2;
	t.n = (unsigned int)atoi(argv[1]);
	t.window_ns = strtoull(argv[2], NULL, 10) * 1000000;
	return run(&t);
}
