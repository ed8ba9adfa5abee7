// SPDX-License-Identifier: BSD-2-Clause
#include "flow/stats.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

static const struct {
	const char *name, *text;
	bool loss;
} outcomes[] = {
#define X(name, loss, text) { #name, text, loss },
	OUTCOMES(X)
#undef X
};

static const struct {
	const char *name, *text;
} endings[] = {
#define X(name, text) { #name, text },
	ENDINGS(X)
#undef X
};

void stats_check(struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;
	uint64_t sum = 0, ended = 0;

	for (int i = 0; i < N_OUTCOMES; i++)
		sum += ledger->outcomes[i];
	for (int i = 0; i < N_ENDINGS; i++)
		ended += ledger->endings[i];
	stats->adds_up = sum == ledger->entered &&
			 ended == ledger->outcomes[OUTCOME_KEPT] &&
			 stats->profile->samples.total == ledger->outcomes[OUTCOME_KEPT];
}

uint64_t stats_missed_ticks(const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;
	uint64_t expected = stats->totals.expected_ticks;
	uint64_t busy = ledger->entered - ledger->outcomes[OUTCOME_IDLE];

	return expected > busy ? expected - busy : 0;
}

uint64_t stats_stolen_ticks(const struct stats *stats)
{
	uint64_t missed = stats_missed_ticks(stats);

	return stats->totals.stolen_ticks < missed ? stats->totals.stolen_ticks : missed;
}

static uint64_t losses(const struct stats *stats)
{
	uint64_t sum = stats->profile->samples.refused;

	for (int i = 0; i < N_OUTCOMES; i++)
		if (outcomes[i].loss)
			sum += stats->totals.ledger.outcomes[i];
	return sum;
}

static void add_lower(struct str *out, const char *name)
{
	str_add_char(out, '"');
	for (; *name; name++)
		str_add_char(out,
			     *name >= 'A' && *name <= 'Z' ? (char)(*name | 32) : *name);
	str_add(out, "\":");
}

static void json_ledger(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;

	str_addf(out, "\"ledger\":{\"entered\":%llu,\"outcomes\":{", ledger->entered);
	for (int i = 0; i < N_OUTCOMES; i++) {
		str_add(out, i ? "," : "");
		add_lower(out, outcomes[i].name);
		str_addf(out, "%llu", ledger->outcomes[i]);
	}
	str_add(out, "},\"endings\":{");
	for (int i = 0; i < N_ENDINGS; i++) {
		str_add(out, i ? "," : "");
		add_lower(out, endings[i].name);
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
		 ",\"refused\":%" PRIu64 ",\"no_place\":%" PRIu64 ",\"whole\":%" PRIu64
		 ",\"doubted\":%" PRIu64 ",\"distinct_stacks\":%zu},",
		 profile->samples.total, profile->samples.in_kernel,
		 profile->samples.unproven, profile->samples.async,
		 profile->samples.unmatched, profile->samples.stale,
		 profile->samples.no_slot, profile->samples.awaited,
		 profile->samples.refused, profile->samples.no_place, stats->notes.whole,
		 stats->notes.doubted, intern_count(profile->stacks));
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
		 "\"refused\":%lu,\"taken_back\":%lu,\"rows\":%lu,\"bytes\":%lu,"
		 "\"spaces\":%lu,\"spaces_refused\":%lu,\"mappings_left_out\":%lu},",
		 counts->tables.lookup.made, counts->tables.ready, counts->tables.without,
		 counts->tables.unreadable, counts->tables.refused,
		 counts->tables.taken_back, counts->tables.rows,
		 counts->tables.pages * UNWIND_PAGE_BYTES, counts->spaces.made,
		 counts->spaces.refused, counts->spaces.cut);
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
	json_user_half(out, stats);
	str_add(out, "}\n");
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void summary_endings(struct str *out, const struct stats *stats)
{
	const struct profile *profile = stats->profile;
	uint64_t total = profile->samples.total;
	uint64_t with_user = total - profile->endings[END_NO_USER];

	if (!with_user)
		return;
	str_addf(out, "  stacks    %5.1f %%  are whole, from the leaf to a start\n",
		 percent(stats->notes.whole, with_user));
	for (int i = END_START; i < N_ENDINGS; i++)
		if (profile->endings[i])
			str_addf(out, "            %5.1f %%  %s\n",
				 percent(profile->endings[i], with_user),
				 endings[i].text);
	str_addf(out,
		 "            %5.1f %%  hold a step by frame pointer alone: unproven\n",
		 percent(profile->samples.unproven, total));
	if (profile->samples.awaited)
		str_addf(out,
			 "            %5.1f %%  came before the unwind table of their "
			 "code\n",
			 percent(profile->samples.awaited, total));
	if (stats->published.tables.refused || stats->published.spaces.refused)
		str_add(out, "            there was no room for some unwind tables: "
			     "raise --unwind-memory\n");
}

static void summary_async(struct str *out, const struct stats *stats)
{
	const struct profile *profile = stats->profile;

	if (!stats->published.processes && !profile->samples.async)
		return;
	str_addf(out, "  async     %5.1f %%  have async callers\n",
		 percent(profile->samples.async, profile->samples.total));
	if (profile->samples.unmatched)
		str_addf(out, "            %5.1f %%  did not meet an async root\n",
			 percent(profile->samples.unmatched, profile->samples.total));
	if (stats->published.overfull)
		str_addf(out,
			 "            %lu processes use more than %d async keys at once: "
			 "not all are followed\n",
			 stats->published.overfull, KEYS_MOST);
	if (stats->published.delays.measured)
		str_addf(out,
			 "            new mappings were ready after %.1f ms (median), "
			 "%.1f ms "
			 "(most)\n",
			 (double)stats->published.delays.median_ns / 1e6,
			 (double)stats->published.delays.most_ns / 1e6);
}

/* Nobody meets these who does not want to. */
static void summary_limits(struct str *out, const struct stats *stats)
{
	const struct {
		uint64_t n;
		const char *what;
	} limits[] = {
		{ stats->processes.refused, "processes, mappings or files" },
		{ stats->profile->samples.no_place, "frames" },
		{ stats->symbols.refused, "names" },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].n)
			str_addf(out,
				 "            %" PRIu64
				 " %s were left out: more than weft keeps\n",
				 limits[i].n, limits[i].what);
}

static void summary_missed(struct str *out, const struct stats *stats)
{
	uint64_t missed = stats_missed_ticks(stats), stolen = stats_stolen_ticks(stats);

	if (stats->event != TICK_CPU_CLOCK || !missed)
		return;
	str_addf(out, "; about %" PRIu64 " ticks (%.1f %%) never came", missed,
		 percent(missed, stats->totals.expected_ticks));
	if (stolen)
		str_addf(out,
			 ", up to %" PRIu64
			 " of them\n            while the hypervisor ran others",
			 stolen);
}

static void summary_losses(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;

	str_addf(out, "  lost      %" PRIu64, losses(stats));
	for (int i = 0; i < N_OUTCOMES; i++)
		if (outcomes[i].loss && ledger->outcomes[i])
			str_addf(out, ", %llu: %s", ledger->outcomes[i],
				 outcomes[i].text);
	if (stats->profile->samples.refused)
		str_addf(out, ", %" PRIu64 ": too many distinct stacks",
			 stats->profile->samples.refused);
	summary_missed(out, stats);
	str_add_char(out, '\n');
	if (stats->processes.lost)
		str_addf(out,
			 "            %" PRIu64
			 " records of what processes map were lost; "
			 "names may be missing\n",
			 stats->processes.lost);
	if (stats->files.overwritten)
		str_addf(out,
			 "            %lu files were written to meanwhile: what ran of "
			 "them "
			 "has no names\n",
			 stats->files.overwritten);
	if (stats->symbols.inlines_failed)
		str_addf(out,
			 "            %lu files' debug information could not be read, or "
			 "not "
			 "in time: what was\n            inlined there may be missing "
			 "(-v says "
			 "why)\n",
			 stats->symbols.inlines_failed);
	else if (stats->symbols.inlines_sought && !stats->symbols.inlines_found)
		str_add(out, "            no file that ran has debug information: what "
			     "was inlined there\n            is not known (build with "
			     "-g, or install what your distribution splits off)\n");
	if (!stats->adds_up && stats->totals.ledger.entered)
		str_add(out, "            the ledger does not add up: please report this "
			     "with --stats-json\n");
}

void stats_summary(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledger;

	str_addf(out,
		 "%" PRIu64
		 " samples at %u Hz in %.1f s (%s): %zu distinct stacks of %zu "
		 "processes\n",
		 stats->profile->samples.total, stats->hz,
		 (double)stats->duration_ns / 1e9, tick_event_name(stats->event),
		 intern_count(stats->profile->stacks),
		 intern_count(stats->profile->processes) - 1);
	str_addf(out,
		 "  ticks     %llu = %llu idle + %llu filtered + %llu kept + %" PRIu64
		 " lost\n",
		 ledger->entered, ledger->outcomes[OUTCOME_IDLE],
		 ledger->outcomes[OUTCOME_FILTERED], ledger->outcomes[OUTCOME_KEPT],
		 losses(stats) - stats->profile->samples.refused);
	summary_endings(out, stats);
	summary_async(out, stats);
	keyless_summary(out, &stats->keyless);
	summary_losses(out, stats);
	summary_limits(out, stats);
}

#define TAPE_TOTALS (9 + N_OUTCOMES + N_ENDINGS)

size_t stats_to_tape(const struct stats *stats, uint64_t numbers[TAPE_TOTALS_MOST])
{
	const struct ledger *ledger = &stats->totals.ledger;
	size_t n = 0;

	_Static_assert(TAPE_TOTALS <= TAPE_TOTALS_MOST, "fits");
	numbers[n++] = stats->hz;
	numbers[n++] = stats->event;
	numbers[n++] = stats->duration_ns;
	numbers[n++] = stats->totals.expected_ticks;
	numbers[n++] = ledger->entered;
	numbers[n++] = stats->published.processes;
	numbers[n++] = N_OUTCOMES;
	for (int i = 0; i < N_OUTCOMES; i++)
		numbers[n++] = ledger->outcomes[i];
	numbers[n++] = N_ENDINGS;
	for (int i = 0; i < N_ENDINGS; i++)
		numbers[n++] = ledger->endings[i];
	numbers[n++] = stats->totals.stolen_ticks;
	return n;
}

int stats_from_tape(struct stats *stats, const uint64_t *numbers, size_t n)
{
	struct ledger *ledger = &stats->totals.ledger;

	if (n != TAPE_TOTALS || numbers[6] != N_OUTCOMES ||
	    numbers[7 + N_OUTCOMES] != N_ENDINGS || !numbers[0])
		return fail(-EBADMSG, "totals of %zu numbers", n);
	stats->hz = (unsigned int)numbers[0];
	stats->event = numbers[1] == TICK_CYCLES ? TICK_CYCLES : TICK_CPU_CLOCK;
	stats->duration_ns = numbers[2];
	stats->totals.expected_ticks = numbers[3];
	ledger->entered = numbers[4];
	stats->published.processes = numbers[5];
	for (int i = 0; i < N_OUTCOMES; i++)
		ledger->outcomes[i] = numbers[7 + i];
	for (int i = 0; i < N_ENDINGS; i++)
		ledger->endings[i] = numbers[8 + N_OUTCOMES + i];
	stats->totals.stolen_ticks = numbers[8 + N_OUTCOMES + N_ENDINGS];
	return 0;
}
