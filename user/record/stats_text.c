// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a run for a person. */
#include "record/stats.h"

#include <inttypes.h>

static const struct {
	const char *text;
	bool loss;
} outcomes[] = {
#define X(name, loss, text) { text, loss },
	OUTCOMES(X)
#undef X
};

static const char *const endings[] = {
#define X(name, text) text,
	ENDINGS(X)
#undef X
};

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A line "N %  what"; what is there at all is never told as 0.0. */
static void add_share(struct str *out, const char *head, uint64_t part, uint64_t whole,
		      const char *what)
{
	double share = percent(part, whole);

	if (part && share < 0.05)
		str_addf(out, "  %-9s  <0.1 %%  %s\n", head, what);
	else
		str_addf(out, "  %-9s %5.1f %%  %s\n", head, share, what);
}

static void add_some(struct str *out, uint64_t part, uint64_t whole, const char *what)
{
	if (part)
		add_share(out, "", part, whole, what);
}

/* Does nothing more lie behind a chain, or a stack, that ended so? */
static bool is_complete(int ending)
{
	return ending == END_START || ending == END_DETACHED || ending == END_REJOINED ||
	       ending == END_CROSSED || ending == END_FIBER;
}

static void summary_room(struct str *out, const struct stats *stats)
{
	if (stats->published.overdue)
		str_addf(out,
			 "            %lu processes waited more than 2 s for an unwind "
			 "table: please report\n            this with --stats-json\n",
			 stats->published.overdue);
	if (stats->published.tables.refused || stats->published.spaces.refused)
		str_add(out, "            there was no room for some unwind tables: "
			     "raise --unwind-memory\n");
	if (stats->profile->endings[END_BUDGET] ||
	    stats->profile->chain_endings[END_BUDGET] ||
	    stats->profile->waiting_endings[END_BUDGET])
		str_addf(out, "            --max-frames raises the budget, up to %d\n",
			 FRAMES_MAX);
}

/* The view that was written: why a stack of it is not whole. */
static void summary_stacks(struct str *out, const struct stats *stats)
{
	const struct profile *profile = stats->profile;
	const struct view_sums *sums = &stats->views[stats->view];
	uint64_t total = profile->samples.total;
	uint64_t with_user = total - profile->endings[END_NO_USER];

	if (!with_user)
		return;
	add_share(out, "stacks", sums->whole, with_user,
		  "are whole: from the leaf to a start, without a gap");
	add_some(out, sums->gaps, with_user, "have a gap: frames are missing in between");
	for (int i = END_START; i < N_ENDINGS; i++)
		add_some(out, sums->endings[i], with_user, endings[i]);
	add_share(out, "", profile->samples.unproven, total,
		  "hold a step by frame pointer alone: unproven");
	add_some(out, profile->samples.awaited, total,
		 "came before the unwind table of their code");
	summary_room(out, stats);
}

/* How much of what chains lead to is missing, and why. */
static void summary_chains(struct str *out, const uint64_t counts[N_ENDINGS],
			   const char *what)
{
	uint64_t total = 0;

	for (int i = 0; i < N_ENDINGS; i++)
		total += counts[i];
	for (int i = 0; i < N_ENDINGS; i++)
		if (counts[i] && !is_complete(i))
			str_addf(out, "            %" PRIu64 " of %" PRIu64 " %s %s\n",
				 counts[i], total, what, endings[i]);
}

static void summary_async(struct str *out, const struct stats *stats)
{
	const struct profile *profile = stats->profile;
	uint64_t total = profile->samples.total;

	if (!stats->published.processes && !profile->samples.async)
		return;
	add_share(out, "async", profile->samples.async, total, "have async callers");
	add_some(out, profile->samples.unmatched, total, "did not meet an async root");
	add_some(
		out, profile->samples.roots_cut, total,
		"have more than " STRING(MAX_ROOTS) " async roots: a gap for the others");
	summary_chains(out, profile->chain_endings, "chains were");
	summary_chains(out, profile->waiting_endings, "waiting threads' stacks were");
	if (stats->published.overfull)
		str_addf(out,
			 "            %lu processes use more than %d async keys at once: "
			 "not all are followed\n",
			 stats->published.overfull, KEYS_MAX);
	if (stats->published.delays.measured)
		str_addf(out,
			 "            new mappings were ready after %.1f ms (median), "
			 "%.1f ms (most)\n",
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

#define INDENT "            "

/* What the ticks have no room to know. */
static void summary_unknown(struct str *out, const struct stats *stats)
{
	if (stats->files.over_limit)
		str_addf(out,
			 INDENT
			 "%lu files were not opened, so what ran of them is cut:\n" INDENT
			 "raise ulimit -Hn, of which weft takes half\n",
			 stats->files.over_limit);
	if (stats->published.spaces.cut)
		str_addf(out,
			 INDENT
			 "some process has more than %d executable mappings:\n" INDENT
			 "what runs in the others is cut\n",
			 UNWIND_MAPPINGS_MAX);
	if (stats->published.refused)
		str_addf(out,
			 INDENT "of %lu processes the ticks could not be told:\n" INDENT
				"their stacks are cut (-v says why)\n",
			 stats->published.refused);
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

	str_addf(out, "  lost      %" PRIu64, stats_losses(stats));
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
		 stats_losses(stats) - stats->profile->samples.refused);
	summary_stacks(out, stats);
	summary_async(out, stats);
	keyless_summary(out, &stats->keyless);
	summary_losses(out, stats);
	summary_limits(out, stats);
	summary_unknown(out, stats);
}
