// SPDX-License-Identifier: BSD-2-Clause
#include "record/run_info.h"

#include "base/clock.h"
#include "base/error.h"
#include "core/counted.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#define COMMAND_BYTES_MAX 4096

uint64_t run_info_unix_offset_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - clock_now_ns();
}

static int add_text(struct profile *r, const char *text, uint32_t *ret)
{
	return profile_add_string(r, text, strlen(text), ret);
}

/* Our own command line, with blanks between. */
static int add_command(struct profile *r, uint32_t *ret)
{
	AUTO_CLOSE int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char text[COMMAND_BYTES_MAX];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	*ret = 0;
	if (n <= 0)
		return 0;
	for (ssize_t i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	return profile_add_string(r, text, (size_t)n - !text[n - 1], ret);
}

int run_info_begin(struct profile *r, const struct stats *stats, uint64_t started_unix_ns,
		   uint32_t *ret_host)
{
	struct profile_run run = { .hz = stats->hz, .started_unix_ns = started_unix_ns };
	struct utsname name;
	int err;

	if (uname(&name))
		return fail_errno(-errno, "cannot read this machine's name");
	err = add_text(r, name.nodename, &run.host);
	if (!err)
		err = add_text(r, name.release, &run.kernel);
	if (!err)
		err = add_text(r, name.machine, &run.arch);
	if (!err)
		err = add_text(r, tick_event_name(stats->event), &run.event);
	if (!err)
		err = add_command(r, &run.command);
	*ret_host = run.host;
	return err ? err : profile_add_run(r, &run);
}

static int add_count(struct profile *r, const char *group, const char *name,
		     uint64_t value)
{
	AUTO_STR key = { 0 };
	int err;

	str_addf(&key, "%s.", group);
	str_add_lower(&key, name);
	err = str_error(&key);
	return err ? err : profile_add_count(r, key.s, value);
}

static int add_endings(struct profile *r, const char *group,
		       const unsigned long long counts[N_ENDINGS])
{
	int err = 0;

	for (int i = 0; !err && i < N_ENDINGS; i++)
		err = add_count(r, group, counted_endings[i].name, counts[i]);
	return err;
}

/* What a reader sees in either view, and how the chains ended. */
static int add_walks(struct profile *r, const struct stats *stats)
{
	static const char *const groups[N_VIEWS] = {
		[VIEW_ASYNC] = "async_view",
		[VIEW_THREAD] = "thread_view",
	};
	int err = add_endings(r, "chain", stats->aggregator->chain_endings);

	if (!err)
		err = add_endings(r, "waiting", stats->aggregator->waiting_endings);
	for (int view = 0; !err && view < N_VIEWS; view++) {
		err = add_count(r, groups[view], "complete", stats->views[view].complete);
		if (!err)
			err = add_count(r, groups[view], "gaps", stats->views[view].gaps);
	}
	return err;
}

static int add_ledger(struct profile *r, const char *hook, const struct ledger *ledger)
{
	char group[32];
	int err = add_count(r, hook, "entered", ledger->entered);

	snprintf(group, sizeof(group), "%s.outcome", hook);
	for (int i = 0; !err && i < N_OUTCOMES; i++)
		err = add_count(r, group, counted_outcomes[i].name, ledger->outcomes[i]);
	snprintf(group, sizeof(group), "%s.ending", hook);
	return err ? err : add_endings(r, group, ledger->endings);
}

static int add_names(struct profile *r, const struct name_ledger *names)
{
	int err = add_count(r, "names", "user_frames", names->frames);

	for (int i = 0; !err && i < N_NAME_ORIGINS; i++)
		err = add_count(r, "names", counted_origins[i].name, names->by_origin[i]);
	return err ? err : add_count(r, "names", "inlined", names->inlined);
}

static int add_samples(struct profile *r, const struct stats *stats)
{
	const struct aggregator *p = stats->aggregator;
	const struct {
		const char *group, *name;
		uint64_t value;
	} counts[] = {
		{ "samples", "total", p->samples.total },
		{ "samples", "in_kernel", p->samples.in_kernel },
		{ "samples", "unproven", p->samples.unproven },
		{ "samples", "unproven_generated", stats->unproven_generated },
		{ "samples", "cut_generated", stats->cut_generated.samples },
		{ "samples", "async", p->samples.async },
		{ "samples", "unmatched", p->samples.unmatched },
		{ "samples", "stale", p->samples.stale },
		{ "samples", "no_slot", p->samples.no_slot },
		{ "samples", "awaited", p->samples.awaited },
		{ "samples", "roots_cut", p->samples.roots_cut },
		{ "samples", "labels_unreadable", p->samples.labels_unreadable },
		{ "samples", "over_limit", p->samples.refused },
		{ "ticks", "expected", stats->totals.expected_ticks },
		{ "ticks", "missed_estimate", stats_missed_ticks(stats) },
		{ "ticks", "stolen_estimate", stats_stolen_ticks(stats) },
		{ "processes", "seen", stats->processes.seen },
		{ "processes", "records_lost", stats->processes.lost },
		{ "processes", "over_limit", stats->processes.refused },
		{ "keys", "processes", stats->publisher.processes },
		{ "tables", "over_limit", stats->publisher.tables.refused },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(counts) / sizeof(*counts); i++)
		err = add_count(r, counts[i].group, counts[i].name, counts[i].value);
	return err;
}

/* Only of who was asked for them. */
static int add_traces(struct profile *r, const struct aggregator *p)
{
	int err = 0;

	if (p->samples.traced)
		err = add_count(r, "samples", "traced", p->samples.traced);
	if (!err && p->samples.attributed)
		err = add_count(r, "samples", "attributed", p->samples.attributed);
	if (!err && p->samples.attributes_cut)
		err = add_count(r, "samples", "attributes_cut",
				p->samples.attributes_cut);
	if (!err && p->samples.no_context)
		err = add_count(r, "samples", "no_context", p->samples.no_context);
	if (!err && p->samples.traces_dropped)
		err = add_count(r, "samples", "traces_dropped",
				p->samples.traces_dropped);
	return err;
}

int run_info_end(struct profile *r, const struct stats *stats)
{
	int err = 0;

	r->period_ns = stats->aggregator->period_ns;
	if (!r->period_ns && stats->hz)
		r->period_ns = 1000000000 / stats->hz;
	for (int hook = 0; !err && hook < N_HOOKS; hook++)
		err = add_ledger(r, counted_hooks[hook].name,
				 &stats->totals.ledgers[hook]);
	if (!err)
		err = add_walks(r, stats);
	if (!err)
		err = add_names(r, &stats->names);
	if (r->runs.n)
		r->runs.items[r->runs.n - 1].duration_ns = stats->duration_ns;
	if (!err)
		err = add_samples(r, stats);
	return err ? err : add_traces(r, stats->aggregator);
}
