// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a run for a program. */
#include "record/stats.h"

#include "base/json.h"
#include "core/counted.h"

/* "name":{"start":1,…}; names: capitals, of a list that both halves share. */
static void add_counts(struct json *json, const char *key, const struct counted *names,
		       const unsigned long long *counts, size_t n)
{
	json_open(json, key, '{');
	for (size_t i = 0; i < n; i++) {
		AUTO_STR name = { 0 };

		str_add_lower(&name, names[i].name);
		json_uint(json, name.s ? name.s : "", counts[i]);
	}
	json_close(json, '}');
}

static void add_endings(struct json *json, const char *key,
			const unsigned long long counts[N_ENDINGS])
{
	add_counts(json, key, counted_endings, counts, N_ENDINGS);
}

static void add_view(struct json *json, const char *name, const struct view_sums *sums)
{
	json_open(json, name, '{');
	json_uint(json, "complete", sums->complete);
	json_uint(json, "gaps", sums->gaps);
	json_uint(json, "suspect", sums->suspect);
	add_endings(json, "endings", sums->endings);
	json_close(json, '}');
}

/* How what was walked ended: chains, the stacks of threads that wait for one, and what
 * a reader sees in either view. */
static void add_walks(struct json *json, const struct stats *stats)
{
	json_open(json, "chains", '{');
	add_endings(json, "endings", stats->aggregator->chain_endings);
	add_endings(json, "waiting_endings", stats->aggregator->waiting_endings);
	json_close(json, '}');
	json_open(json, "views", '{');
	add_view(json, "async", &stats->views[VIEW_ASYNC]);
	add_view(json, "thread", &stats->views[VIEW_THREAD]);
	json_close(json, '}');
}

static void add_kernel_walks(struct json *json, const struct kernel_walks *kernel)
{
	json_open(json, "kernel_stacks", '{');
	json_uint(json, "walked", kernel->walked);
	json_uint(json, "checked", kernel->checked);
	json_uint(json, "differed", kernel->differed);
	json_close(json, '}');
}

/* "oncpu":{"entered":1,…},"adds_up":true */
static void add_ledgers(struct json *json, const struct stats *stats)
{
	json_open(json, "ledger", '{');
	for (int hook = 0; hook < N_HOOKS; hook++) {
		const struct ledger *ledger = &stats->totals.ledgers[hook];

		json_open(json, counted_hooks[hook].name, '{');
		json_uint(json, "entered", ledger->entered);
		add_counts(json, "outcomes", counted_outcomes, ledger->outcomes,
			   N_OUTCOMES);
		add_endings(json, "endings", ledger->endings);
		add_kernel_walks(json, &ledger->kernel);
		json_close(json, '}');
	}
	json_bool(json, "adds_up", stats->adds_up);
	json_close(json, '}');
}

static void add_samples(struct json *json, const struct stats *stats)
{
	const struct aggregator *aggregator = stats->aggregator;

	json_open(json, "samples", '{');
	json_uint(json, "total", aggregator->samples.total);
	json_uint(json, "in_kernel", aggregator->samples.in_kernel);
	json_uint(json, "unproven", aggregator->samples.unproven);
	json_uint(json, "unproven_generated", stats->unproven_generated);
	json_uint(json, "cut_generated", stats->cut_generated.samples);
	json_uint(json, "async", aggregator->samples.async);
	json_uint(json, "unmatched", aggregator->samples.unmatched);
	json_uint(json, "stale", aggregator->samples.stale);
	json_uint(json, "no_slot", aggregator->samples.no_slot);
	json_uint(json, "awaited", aggregator->samples.awaited);
	json_uint(json, "traced", aggregator->samples.traced);
	json_uint(json, "no_context", aggregator->samples.no_context);
	json_uint(json, "traces_dropped", aggregator->samples.traces_dropped);
	json_uint(json, "roots_cut", aggregator->samples.roots_cut);
	json_uint(json, "labels_unreadable", aggregator->samples.labels_unreadable);
	json_uint(json, "over_limit", aggregator->samples.refused);
	json_uint(json, "frames_dropped", aggregator->samples.frames_dropped);
	json_uint(json, "over_share", aggregator->samples.over_share);
	json_uint(json, "complete", stats->views[stats->view].complete);
	json_uint(json, "suspect", stats->views[stats->view].suspect);
	json_uint(json, "distinct_stacks", intern_count(aggregator->stacks));
	json_close(json, '}');
}

static void add_cache(struct json *json, const struct cache_counts *cache)
{
	json_open(json, "unwind_cache", '{');
	json_uint(json, "hits", cache->hits);
	json_uint(json, "known", cache->known);
	json_uint(json, "misses", cache->misses);
	json_uint(json, "changed", cache->others);
	json_uint(json, "corrupt", cache->corrupt);
	json_uint(json, "stored", cache->kept);
	json_uint(json, "too_large", cache->too_large);
	json_uint(json, "failed", cache->failed);
	json_uint(json, "evicted", cache->removed);
	json_close(json, '}');
}

static void add_keys(struct json *json, const struct publisher_counts *counts)
{
	json_open(json, "keys", '{');
	json_uint(json, "processes", counts->processes);
	json_uint(json, "too_many_keys", counts->too_many_keys);
	json_uint(json, "too_many_set_keys", counts->too_many_set_keys);
	json_uint(json, "not_published", counts->refused);
	json_uint(json, "hidden", counts->hidden);
	json_uint(json, "stale", counts->stale);
	json_uint(json, "delay_max_ns", counts->delays.keyed_max_ns);
	json_close(json, '}');
	json_open(json, "late_mappings", '{');
	json_uint(json, "measured", counts->delays.measured);
	json_uint(json, "median_ns", counts->delays.median_ns);
	json_uint(json, "p90_ns", counts->delays.p90_ns);
	json_uint(json, "p99_ns", counts->delays.p99_ns);
	json_uint(json, "max_ns", counts->delays.max_ns);
	json_close(json, '}');
}

static void add_tables(struct json *json, const struct publisher_counts *counts)
{
	json_open(json, "tables", '{');
	json_uint(json, "made", counts->tables.loader.made);
	json_uint(json, "ready", counts->tables.ready);
	json_uint(json, "no_table", counts->tables.without);
	json_uint(json, "unreadable", counts->tables.unreadable);
	json_uint(json, "over_limit", counts->tables.refused);
	json_uint(json, "evicted", counts->tables.evicted);
	json_uint(json, "over_budget", counts->tables.over_budget);
	json_uint(json, "unread", counts->tables.unread);
	json_uint(json, "slow", counts->slow);
	json_uint(json, "overdue", counts->overdue);
	json_uint(json, "requested_again", counts->requested_again);
	json_uint(json, "rows", counts->tables.rows);
	json_uint(json, "bytes", counts->tables.pages * UNWIND_PAGE_BYTES);
	json_uint(json, "mapping_tables", counts->mapping_tables.made);
	json_uint(json, "mapping_tables_over_limit", counts->mapping_tables.refused);
	json_uint(json, "mappings_dropped", counts->mapping_tables.cut);
	json_close(json, '}');
	add_cache(json, &counts->tables.loader.cache);
}

static void add_processes(struct json *json, const struct stats *stats)
{
	json_open(json, "processes", '{');
	json_uint(json, "seen", stats->processes.seen);
	json_uint(json, "records", stats->processes.records);
	json_uint(json, "records_lost", stats->processes.lost);
	json_uint(json, "lost_exits", stats->processes.unheard);
	json_uint(json, "over_limit", stats->processes.refused);
	json_close(json, '}');
	add_keys(json, &stats->publisher);
	add_tables(json, &stats->publisher);
	keyless_json(json, &stats->keyless);
}

static void add_files(struct json *json, const struct stats *stats)
{
	json_open(json, "files", '{');
	json_uint(json, "opened", stats->files.opened);
	json_uint(json, "unreadable", stats->files.unreadable);
	json_uint(json, "unparsable", stats->files.unparsable);
	json_uint(json, "over_limit", stats->files.over_limit);
	json_uint(json, "overwritten", stats->files.overwritten);
	json_uint(json, "copied", stats->files.copied);
	json_uint(json, "copies_over_limit", stats->files.copies_over_limit);
	json_uint(json, "known", stats->files.known);
	json_close(json, '}');
	json_open(json, "opener", '{');
	json_uint(json, "held", stats->opener.held);
	json_uint(json, "refused", stats->opener.refused);
	json_close(json, '}');
	json_open(json, "worker", '{');
	json_uint(json, "requests", stats->worker.requests);
	json_uint(json, "failed", stats->worker.failed);
	json_uint(json, "restarts", stats->worker.restarts);
	json_close(json, '}');
	json_open(json, "symbols", '{');
	json_uint(json, "modules", stats->symbols.modules);
	json_uint(json, "failed", stats->symbols.failed);
	json_uint(json, "out_of_time", stats->symbols.out_of_time);
	json_uint(json, "others_ns", stats->symbols.others_ns);
	json_uint(json, "inlines_sought", stats->symbols.inlines_sought);
	json_uint(json, "inlines_found", stats->symbols.inlines_found);
	json_uint(json, "inlines_failed", stats->symbols.inlines_failed);
	json_uint(json, "over_limit", stats->symbols.refused);
	json_uint(json, "debug_files", stats->symbols.debug.found);
	json_uint(json, "debug_files_of_others", stats->symbols.debug.others);
	json_uint(json, "foreign_maps", stats->symbols.foreign_maps);
	json_uint(json, "callers_unread", stats->returns_unread);
	json_close(json, '}');
	json_open(json, "debuginfod", '{');
	json_uint(json, "asked", stats->debuginfod.asked);
	json_uint(json, "found", stats->debuginfod.found);
	json_uint(json, "failed", stats->debuginfod.failed);
	json_uint(json, "skipped", stats->debuginfod.skipped);
	json_uint(json, "bytes", stats->debuginfod.bytes);
	json_uint(json, "waited_ns", stats->debuginfod.waited_ns);
	json_close(json, '}');
	json_open(json, "jitdumps", '{');
	json_uint(json, "found", stats->jitdumps.found);
	json_uint(json, "foreign", stats->jitdumps.foreign);
	json_uint(json, "unreadable", stats->jitdumps.unreadable);
	json_uint(json, "over_limit", stats->jitdumps.over_limit);
	json_uint(json, "failed", stats->symbols.bad_dumps);
	json_close(json, '}');
	name_ledger_json(json, &stats->names);
}

void stats_json(struct str *out, const struct stats *stats)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_uint(&json, "version", 2);
	json_uint(&json, "rate_hz", stats->hz);
	json_text(&json, "event", tick_event_name(stats->event));
	json_uint(&json, "duration_ns", stats->duration_ns);
	json_uint(&json, "first_sample_ns", stats->first_sample_ns);
	json_uint(&json, "finish_ns", stats->finish_ns);
	add_ledgers(&json, stats);
	json_uint(&json, "expected_ticks", stats->totals.expected_ticks);
	json_uint(&json, "missed_ticks_estimate", stats_missed_ticks(stats));
	json_uint(&json, "stolen_ticks_estimate", stats_stolen_ticks(stats));
	add_samples(&json, stats);
	add_walks(&json, stats);
	add_processes(&json, stats);
	add_files(&json, stats);
	json_close(&json, '}');
	str_add_char(out, '\n');
}
