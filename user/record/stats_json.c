// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a run for a program. */
#include "record/stats.h"

#include "core/counted.h"

#include <inttypes.h>

static void add_lower(struct str *out, const char *name)
{
	str_add_char(out, '"');
	str_add_lower(out, name);
	str_add(out, "\":");
}

/* "name":{"start":1,…} */
static void json_endings(struct str *out, const char *name,
			 const uint64_t counts[N_ENDINGS])
{
	str_addf(out, "\"%s\":{", name);
	for (int i = 0; i < N_ENDINGS; i++) {
		str_add(out, i ? "," : "");
		add_lower(out, counted_endings[i].name);
		str_addf(out, "%" PRIu64, counts[i]);
	}
	str_add_char(out, '}');
}

static void json_view(struct str *out, const char *name, const struct view_sums *sums)
{
	str_addf(out,
		 "\"%s\":{\"whole\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"doubted\":%" PRIu64
		 ",",
		 name, sums->whole, sums->gaps, sums->doubted);
	json_endings(out, "endings", sums->endings);
	str_add_char(out, '}');
}

/* How what was walked ended: chains, the stacks of threads that wait for one, and what
 * a reader sees in either view. */
static void json_walks(struct str *out, const struct stats *stats)
{
	str_add(out, "\"chains\":{");
	json_endings(out, "endings", stats->profile->chain_endings);
	str_add_char(out, ',');
	json_endings(out, "waiting_endings", stats->profile->waiting_endings);
	str_add(out, "},\"views\":{");
	json_view(out, "async", &stats->views[VIEW_ASYNC]);
	str_add_char(out, ',');
	json_view(out, "thread", &stats->views[VIEW_THREAD]);
	str_add(out, "},");
}

static void json_ledger(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;

	str_addf(out, "\"ledger\":{\"entered\":%llu,\"outcomes\":{", ledger->entered);
	for (int i = 0; i < N_OUTCOMES; i++) {
		str_add(out, i ? "," : "");
		add_lower(out, counted_outcomes[i].name);
		str_addf(out, "%llu", ledger->outcomes[i]);
	}
	str_add(out, "},\"endings\":{");
	for (int i = 0; i < N_ENDINGS; i++) {
		str_add(out, i ? "," : "");
		add_lower(out, counted_endings[i].name);
		str_addf(out, "%llu", ledger->endings[i]);
	}
	str_addf(out, "},\"adds_up\":%s},", stats->adds_up ? "true" : "false");
}

static void json_samples(struct str *out, const struct stats *stats)
{
	const struct profile *profile = stats->profile;

	str_addf(out,
		 "\"samples\":{\"total\":%" PRIu64 ",\"in_kernel\":%" PRIu64
		 ",\"unproven\":%" PRIu64 ",\"async\":%" PRIu64 ",\"unmatched\":%" PRIu64
		 ",\"stale\":%" PRIu64 ",\"no_slot\":%" PRIu64 ",\"awaited\":%" PRIu64
		 ",\"roots_cut\":%" PRIu64 ",\"refused\":%" PRIu64
		 ",\"no_place\":%" PRIu64 ",\"whole\":%" PRIu64 ",\"doubted\":%" PRIu64
		 ",\"distinct_stacks\":%zu},",
		 profile->samples.total, profile->samples.in_kernel,
		 profile->samples.unproven, profile->samples.async,
		 profile->samples.unmatched, profile->samples.stale,
		 profile->samples.no_slot, profile->samples.awaited,
		 profile->samples.roots_cut, profile->samples.refused,
		 profile->samples.no_place, stats->views[stats->view].whole,
		 stats->views[stats->view].doubted, intern_count(profile->stacks));
}

static void json_cache(struct str *out, const struct lookup_counts *counts)
{
	const struct cache_counts *cache = &counts->cache;

	str_addf(out,
		 "\"unwind_cache\":{\"hits\":%lu,\"misses\":%lu,\"others\":%lu,"
		 "\"spoilt\":%lu,\"kept\":%lu,\"too_large\":%lu,\"failed\":%lu,"
		 "\"removed\":%lu},",
		 cache->hits, cache->misses, cache->others, cache->spoilt, cache->kept,
		 cache->too_large, cache->failed, cache->removed);
}

static void json_published(struct str *out, const struct publisher_counts *counts)
{
	str_addf(out,
		 "\"keys\":{\"processes\":%lu,\"crowded\":%lu,\"overfull\":%lu,"
		 "\"refused\":%lu,\"stale\":%lu,"
		 "\"delay_most_ns\":%" PRIu64 "},",
		 counts->processes, counts->crowded, counts->overfull, counts->refused,
		 counts->stale, counts->delays.keyed_most_ns);
	str_addf(out,
		 "\"late_mappings\":{\"measured\":%lu,\"median_ns\":%" PRIu64
		 ",\"p90_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64
		 "},",
		 counts->delays.measured, counts->delays.median_ns, counts->delays.p90_ns,
		 counts->delays.p99_ns, counts->delays.most_ns);
	str_addf(out,
		 "\"tables\":{\"made\":%lu,\"ready\":%lu,\"without\":%lu,\"unreadable\":%"
		 "lu,"
		 "\"refused\":%lu,\"taken_back\":%lu,\"overdue\":%lu,"
		 "\"asked_again\":%lu,\"rows\":%lu,\"bytes\":%lu,"
		 "\"spaces\":%lu,\"spaces_refused\":%lu,\"mappings_left_out\":%lu},",
		 counts->tables.lookup.made, counts->tables.ready, counts->tables.without,
		 counts->tables.unreadable, counts->tables.refused,
		 counts->tables.taken_back, counts->overdue, counts->asked_again,
		 counts->tables.rows, counts->tables.pages * UNWIND_PAGE_BYTES,
		 counts->spaces.made, counts->spaces.refused, counts->spaces.cut);
	json_cache(out, &counts->tables.lookup);
}

static void json_user_half(struct str *out, const struct stats *stats)
{
	str_addf(out,
		 "\"processes\":{\"seen\":%" PRIu64 ",\"records\":%" PRIu64
		 ",\"records_lost\":%" PRIu64 ",\"ended_unheard\":%" PRIu64
		 ",\"refused\":%" PRIu64 "},",
		 stats->processes.seen, stats->processes.records, stats->processes.lost,
		 stats->processes.unheard, stats->processes.refused);
	json_published(out, &stats->published);
	keyless_json(out, &stats->keyless);
	str_addf(out,
		 "\"files\":{\"opened\":%lu,\"unreadable\":%lu,\"unparsable\":%lu,"
		 "\"over_limit\":%lu,\"overwritten\":%lu},",
		 stats->files.opened, stats->files.unreadable, stats->files.unparsable,
		 stats->files.over_limit, stats->files.overwritten);
	str_addf(out,
		 "\"worker\":{\"requests\":%lu,\"failed\":%lu,\"restarts\":%lu},"
		 "\"symbols\":{\"modules\":%lu,\"failed\":%lu,\"inlines_sought\":%lu,"
		 "\"inlines_found\":%lu,\"inlines_failed\":%lu,"
		 "\"refused\":%lu,\"foreign_maps\":%lu}",
		 stats->worker.requests, stats->worker.failed, stats->worker.restarts,
		 stats->symbols.modules, stats->symbols.failed,
		 stats->symbols.inlines_sought, stats->symbols.inlines_found,
		 stats->symbols.inlines_failed, stats->symbols.refused,
		 stats->symbols.foreign_maps);
}

void stats_json(struct str *out, const struct stats *stats)
{
	str_addf(out,
		 "{\"version\":1,\"rate_hz\":%u,\"event\":\"%s\",\"duration_ns\":%" PRIu64
		 ",\"first_sample_ns\":%" PRIu64 ",\"finish_ns\":%" PRIu64 ",",
		 stats->hz, tick_event_name(stats->event), stats->duration_ns,
		 stats->first_sample_ns, stats->finish_ns);
	json_ledger(out, stats);
	str_addf(out,
		 "\"expected_ticks\":%" PRIu64 ",\"missed_ticks_estimate\":%" PRIu64
		 ",\"stolen_ticks_estimate\":%" PRIu64 ",",
		 stats->totals.expected_ticks, stats_missed_ticks(stats),
		 stats_stolen_ticks(stats));
	json_samples(out, stats);
	json_walks(out, stats);
	json_user_half(out, stats);
	str_add(out, "}\n");
}
