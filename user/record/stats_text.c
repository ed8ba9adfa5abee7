// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a run for a person. */
#include "record/stats.h"

#include "core/counted.h"

#include <inttypes.h>

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

static void summary_waits(struct str *out, unsigned long n, const char *why)
{
	if (n)
		str_addf(out,
			 "            %lu process%s waited more than 2 s for an unwind "
			 "table:%s",
			 n, n == 1 ? "" : "es", why);
}

/* Whoever is nice to what it records finds its code's tables too late. */
static void summary_nice(struct str *out, const struct stats *stats)
{
	if (stats->nice > 0 &&
	    stats->aggregator->samples.awaited > stats->aggregator->samples.total / 50)
		str_add(out,
			"            weft runs by nice itself, which makes its tables "
			"late: try\n            weft record ... -- nice COMMAND\n");
}

static void summary_room(struct str *out, const struct stats *stats)
{
	summary_nice(out, stats);
	summary_waits(out, stats->publisher.slow,
		      "\n            their files are large, or the machine is busy\n");
	summary_waits(
		out, stats->publisher.overdue,
		" please report\n            this, with the output of --stats-json\n");
	if (stats->publisher.tables.refused || stats->publisher.mapping_tables.refused)
		str_add(out, "            some unwind tables did not fit: raise "
			     "--unwind-memory\n");
	if (stats->aggregator->by_hook[HOOK_ONCPU].endings[END_BUDGET] ||
	    stats->aggregator->chain_endings[END_BUDGET] ||
	    stats->aggregator->waiting_endings[END_BUDGET])
		str_addf(out, "            --max-frames raises the budget, up to %d\n",
			 FRAMES_MAX);
}

static void summary_cut_generated(struct str *out, const struct cut_generated *cut,
				  uint64_t with_user)
{
	char what[128];

	snprintf(what, sizeof(what),
		 "are cut in generated code whose callers can't be found%s%s",
		 cut->asked ? "; try: " : "", cut->asked ? cut->asked : "");
	add_some(out, cut->samples, with_user, what);
}

/* The view that was written: why a stack of it is not whole. */
static void summary_stacks(struct str *out, const struct stats *stats)
{
	const struct aggregator *aggregator = stats->aggregator;
	const struct view_sums *sums = &stats->views[stats->view];
	uint64_t total = aggregator->samples.total;
	uint64_t with_user = total - aggregator->by_hook[HOOK_ONCPU].endings[END_NO_USER];

	if (!with_user)
		return;
	add_share(out, "stacks", sums->complete, with_user,
		  "are complete: from the leaf to a start, without a gap");
	add_some(out, sums->gaps, with_user, "have a gap: frames are missing in between");
	for (int i = END_START; i < N_ENDINGS; i++)
		add_some(out, sums->endings[i], with_user, counted_endings[i].text);
	summary_cut_generated(out, &stats->cut_generated, with_user);
	add_share(out, "", aggregator->samples.unproven, total,
		  "have a step by frame pointer only: unproven");
	add_some(out, stats->unproven_generated, total,
		 "  only out of generated code that its runtime names");
	add_some(out, aggregator->samples.awaited, total,
		 stats->publisher.hidden
			 ? "have no unwind table of their code (see below)"
			 : "arrived before the unwind table of their code");
	summary_room(out, stats);
}

/* How much of what chains lead to is missing, and why. */
static void summary_chains(struct str *out, const unsigned long long counts[N_ENDINGS],
			   const char *what)
{
	uint64_t total = 0;

	for (int i = 0; i < N_ENDINGS; i++)
		total += counts[i];
	for (int i = 0; i < N_ENDINGS; i++)
		if (counts[i] && !is_complete(i))
			str_addf(out, "            %llu of %" PRIu64 " %s %s\n",
				 counts[i], total, what, counted_endings[i].text);
}

static void summary_async(struct str *out, const struct stats *stats)
{
	const struct aggregator *aggregator = stats->aggregator;
	uint64_t total = aggregator->samples.total;

	if (!stats->publisher.processes && !aggregator->samples.async)
		return;
	add_share(out, "async", aggregator->samples.async, total, "have async callers");
	add_some(out, aggregator->samples.unmatched, total,
		 "have an async root that is not on the stack");
	add_some(out, aggregator->samples.roots_cut, total,
		 "have more than " STRING(
			 MAX_ROOTS) " async roots: a gap replaces the rest");
	if (aggregator->samples.labels_unreadable)
		str_addf(out,
			 "            %lu labels can't be read: their text is not in "
			 "memory\n",
			 aggregator->samples.labels_unreadable);
	summary_chains(out, aggregator->chain_endings, "chains were");
	summary_chains(out, aggregator->waiting_endings, "waiting threads' stacks were");
	if (stats->publisher.too_many_set_keys)
		str_addf(out,
			 "            %lu processes use more than %d async keys at once: "
			 "weft does not follow all\n",
			 stats->publisher.too_many_set_keys, KEYS_MAX);
	if (stats->publisher.delays.measured)
		str_addf(out,
			 "            new mappings were ready after %.1f ms (median), "
			 "%.1f ms (maximum)\n",
			 (double)stats->publisher.delays.median_ns / 1e6,
			 (double)stats->publisher.delays.max_ns / 1e6);
}

/* Nobody meets these who does not want to. */
static void summary_limits(struct str *out, const struct stats *stats)
{
	const struct {
		uint64_t n;
		const char *what;
	} limits[] = {
		{ stats->processes.refused, "processes, mappings or files" },
		{ stats->aggregator->samples.frames_dropped, "frames" },
		{ stats->symbols.refused, "names" },
		{ stats->jitdumps.over_limit, "dumps of JITs" },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].n)
			str_addf(out,
				 "            %" PRIu64
				 " %s were dropped: over weft's limit\n",
				 limits[i].n, limits[i].what);
	if (stats->aggregator->samples.over_share)
		str_addf(out,
			 "            %" PRIu64 " samples show no frames: stacks of "
			 "their users differ too much\n",
			 stats->aggregator->samples.over_share);
}

#define INDENT "            "

static bool is_sampled(const struct aggregator *aggregator, uint32_t tgid)
{
	size_t n = intern_count(aggregator->processes), bytes;

	for (uint32_t id = 1; id < n; id++) {
		const struct aggregator_process *process =
			intern_bytes(aggregator->processes, id, &bytes);

		if (process->tgid == tgid)
			return true;
	}
	return false;
}

/* Of a process that nobody sees here nothing is missing here. */
static void summary_mappings(struct str *out, const struct stats *stats)
{
	const struct mapping_tables_counts *counts = &stats->publisher.mapping_tables;
	uint32_t i = 0;

	while (i < counts->n_cut_of && !is_sampled(stats->aggregator, counts->cut_of[i]))
		i++;
	if (i == counts->n_cut_of && i < MAPPING_TABLES_CUT_MAX)
		return;
	if (i < counts->n_cut_of)
		str_addf(out, INDENT "process %u", counts->cut_of[i]);
	else
		str_add(out, INDENT "a process");
	str_addf(out,
		 " has more than %d executable mappings:\n" INDENT
		 "stacks in the others are cut\n",
		 UNWIND_MAPPINGS_MAX);
}

/* Of files that nobody runs there is nothing to say. */
static void summary_unread(struct str *out, const struct stats *stats)
{
	uint64_t cut = stats->views[stats->view].endings[END_BROKEN];

	if (stats->publisher.tables.unread &&
	    cut > stats->aggregator->samples.total / 100)
		str_addf(out,
			 INDENT "files with more code without call frame information "
				"than is read: %lu\n" INDENT
				"stacks in it are cut (weft doctor -p PID says where)\n",
			 stats->publisher.tables.unread);
}

/* What the ticks have no room to know. */
static void summary_unknown(struct str *out, const struct stats *stats)
{
	if (stats->files.over_limit)
		str_addf(out,
			 INDENT
			 "%lu files were not opened, so stacks in them are cut:\n" INDENT
			 "raise ulimit -Hn (weft uses half of it)\n",
			 stats->files.over_limit);
	if (stats->files.copies_over_limit)
		str_addf(out,
			 INDENT "%lu files of file systems that can make a reader wait "
				"were not copied,\n" INDENT
				"as they would take too much memory\n",
			 stats->files.copies_over_limit);
	if (stats->publisher.tables.over_budget)
		str_addf(out,
			 INDENT "%lu files were read after all others, or not unless "
				"they were sampled,\n" INDENT
				"as those of their users took too long\n",
			 stats->publisher.tables.over_budget);
	summary_unread(out, stats);
	if (stats->opener.held)
		str_addf(out,
			 INDENT "some files are missing: opening them took too long, %lu "
				"times\n",
			 stats->opener.held);
	summary_mappings(out, stats);
	if (stats->publisher.hidden)
		str_addf(out,
			 INDENT "/proc hides %lu processes from weft, so their stacks "
				"are cut:\n" INDENT
				"run weft as root, or with CAP_SYS_PTRACE\n",
			 stats->publisher.hidden);
	if (stats->publisher.refused)
		str_addf(out,
			 INDENT
			 "%lu processes could not be published to the kernel:\n" INDENT
			 "their stacks are cut (-v says why)\n",
			 stats->publisher.refused);
}

static void summary_missed(struct str *out, const struct stats *stats)
{
	uint64_t missed = stats_missed_ticks(stats), stolen = stats_stolen_ticks(stats);

	if (stats->event != TICK_CPU_CLOCK || !missed)
		return;
	str_addf(out, "; about %" PRIu64 " ticks (%.1f %%) were never delivered", missed,
		 percent(missed, stats->totals.expected_ticks));
	if (stolen)
		str_addf(out,
			 ",\n            up to %" PRIu64
			 " of them while the hypervisor ran other guests",
			 stolen);
}

static void summary_dumps(struct str *out, const struct stats *stats)
{
	if (stats->jitdumps.foreign)
		str_addf(out,
			 INDENT "%lu jitdumps were ignored: another user's, or named for "
				"another process\n",
			 stats->jitdumps.foreign);
	if (stats->symbols.bad_dumps)
		str_addf(out, INDENT "%lu jitdumps could not be read: -v says why\n",
			 stats->symbols.bad_dumps);
}

/* Nothing, unless somebody asked for it and a thread said something. */
static void summary_traces(struct str *out, const struct stats *stats)
{
	const struct aggregator *aggregator = stats->aggregator;
	uint64_t total = aggregator->samples.total;

	if (aggregator->samples.traced)
		add_share(out, "traces", aggregator->samples.traced, total,
			  "have the ids of a trace and a span");
	add_some(out, aggregator->samples.no_context, total,
		 "are of threads whose trace context can't be read");
	add_some(out, aggregator->samples.traces_dropped, total,
		 "lost their trace ids: too many distinct ones");
}

static void summary_losses(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledgers[HOOK_ONCPU];

	str_addf(out, "  lost      %" PRIu64, stats_losses(stats));
	for (int i = 0; i < N_OUTCOMES; i++)
		if (counted_outcomes[i].is_loss && ledger->outcomes[i])
			str_addf(out, ", %llu: %s", ledger->outcomes[i],
				 counted_outcomes[i].text);
	if (stats->aggregator->samples.refused)
		str_addf(out, ", %" PRIu64 ": too many distinct stacks",
			 stats->aggregator->samples.refused);
	summary_missed(out, stats);
	str_add_char(out, '\n');
	if (ledger->kernel.differed)
		str_add(out,
			INDENT "stacks of the kernel were not walked as it does "
			       "itself, so it was asked\n" INDENT "for all later ones: "
			       "please report this, with the output of `uname -a`\n");
	if (stats->processes.lost)
		str_addf(out,
			 "            %" PRIu64
			 " records of mappings were lost; names may be missing\n",
			 stats->processes.lost);
	if (stats->files.overwritten)
		str_addf(out,
			 "            %lu files were overwritten during the recording: "
			 "their\n            functions have no names\n",
			 stats->files.overwritten);
	if (stats->symbols.out_of_time)
		str_addf(out,
			 INDENT "the functions of %lu files have no names: those of the "
				"others took\n" INDENT "too long to read\n",
			 stats->symbols.out_of_time);
	if (stats->returns_unread)
		str_addf(out,
			 INDENT "%" PRIu64 " callers were not compared with the code of "
				"their files:\n" INDENT "these take too long to read\n",
			 stats->returns_unread);
	if (stats->symbols.inlines_failed)
		str_addf(out,
			 "            %lu files' debug information could not be read, or "
			 "not in time:\n            inlined functions of these files may "
			 "be missing (-v says why)\n",
			 stats->symbols.inlines_failed);
	else if (stats->symbols.inlines_sought && !stats->symbols.inlines_found)
		str_add(out, "            no file that ran has debug information, so "
			     "inlined functions are\n            unknown (build with -g, "
			     "or install your distribution's debug packages)\n");
	if (!stats->adds_up && stats->totals.ledgers[HOOK_ONCPU].entered)
		str_add(out, "            the ledger does not add up: please report "
			     "this, with the output of\n            --stats-json\n");
}

void stats_summary(struct str *out, const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledgers[HOOK_ONCPU];
	size_t processes = intern_count(stats->aggregator->processes) - 1;

	str_addf(out,
		 "%" PRIu64
		 " samples at %u Hz in %.1f s (%s): %zu distinct stacks of %zu "
		 "%s\n",
		 stats->aggregator->samples.total, stats->hz,
		 (double)stats->duration_ns / 1e9, tick_event_name(stats->event),
		 intern_count(stats->aggregator->stacks), processes,
		 processes == 1 ? "process" : "processes");
	str_addf(out,
		 "  ticks     %llu = %llu idle + %llu filtered + %llu kept + %" PRIu64
		 " lost\n",
		 ledger->entered, ledger->outcomes[OUTCOME_IDLE],
		 ledger->outcomes[OUTCOME_FILTERED], ledger->outcomes[OUTCOME_KEPT],
		 stats_losses(stats) - stats->aggregator->samples.refused);
	summary_stacks(out, stats);
	name_ledger_summary(out, &stats->names);
	summary_async(out, stats);
	keyless_summary(out, &stats->keyless);
	summary_traces(out, stats);
	summary_losses(out, stats);
	summary_dumps(out, stats);
	summary_limits(out, stats);
	summary_unknown(out, stats);
}
