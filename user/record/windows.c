// SPDX-License-Identifier: BSD-2-Clause
#include "record/windows.h"

#include "base/clock.h"
#include "base/error.h"
#include "kern/ledger.h"
#include "record/run_info.h"

#include <errno.h>
#include <string.h>

void recorded_window_free(struct recorded_window *w)
{
	if (!w)
		return;
	window_free(w->window);
	cgroups_free(w->cgroups);
	free(w);
}

static int open_window(const struct windows *windows, const struct cgroups *before,
		       struct recorded_window **ret)
{
	AUTO(recorded_window) w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return fail(-ENOMEM, "no memory for a window");
	err = window_new(&w->window, windows->modules);
	if (!err)
		err = cgroups_new(&w->cgroups, before, windows->processes);
	if (err)
		return err;
	/* anew for each: the clock of the day is set now and then */
	window_aggregator(w->window)->unix_offset_ns = run_info_unix_offset_ns();
	w->begun_ns = clock_now_ns();
	w->hz = windows->hz;
	*ret = GIVE(w);
	return 0;
}

int windows_begin(struct windows *windows, struct module_table *modules,
		  const struct process_table *processes, unsigned int hz)
{
	windows->hz = hz;
	windows->modules = modules;
	windows->processes = processes;
	return open_window(windows, NULL, &windows->open);
}

void windows_end(struct windows *windows)
{
	recorded_window_free(windows->open);
	windows->open = NULL;
}

/* Estimates are made anew each time, and may come out lower than before. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static struct sampler_totals totals_since(const struct sampler_totals *now,
					  const struct sampler_totals *before)
{
	struct sampler_totals ret = {
		.expected_ticks = since(now->expected_ticks, before->expected_ticks),
		.stolen_ticks = since(now->stolen_ticks, before->stolen_ticks),
	};

	for (int hook = 0; hook < N_HOOKS; hook++)
		ret.ledgers[hook] =
			ledger_since(&now->ledgers[hook], &before->ledgers[hook]);
	return ret;
}

/* While ticks go on, some are under way, and so are samples: what is counted here is
 * what has arrived. */
static void leave_to_the_next(struct recorded_window *w)
{
	const struct aggregator *aggregator = window_aggregator(w->window);

	w->on_their_way = 0;
	for (int hook = 0; hook < N_HOOKS; hook++) {
		struct ledger *ledger = &w->totals.ledgers[hook];

		w->on_their_way += (int64_t)(ledger->outcomes[OUTCOME_KEPT] -
					     aggregator->by_hook[hook].samples);
		ledger->outcomes[OUTCOME_KEPT] = aggregator->by_hook[hook].samples;
		ledger->entered = 0;
		for (int i = 0; i < N_OUTCOMES; i++)
			ledger->entered += ledger->outcomes[i];
		memcpy(ledger->endings, aggregator->by_hook[hook].endings,
		       sizeof(ledger->endings));
	}
}

static void add_totals(struct sampler_totals *sum, const struct sampler_totals *more)
{
	for (int hook = 0; hook < N_HOOKS; hook++)
		ledger_add(&sum->ledgers[hook], &more->ledgers[hook]);
	sum->expected_ticks += more->expected_ticks;
	sum->stolen_ticks += more->stolen_ticks;
}

static struct process_counts processes_since(const struct process_counts *now,
					     const struct process_counts *before)
{
	return (struct process_counts){
		.seen = now->seen - before->seen,
		.records = now->records - before->records,
		.lost = now->lost - before->lost,
		.unheard = now->unheard - before->unheard,
		.refused = now->refused - before->refused,
	};
}

int windows_close(struct windows *windows, const struct sampler_totals *totals,
		  bool is_last, struct recorded_window **ret)
{
	const struct process_counts *now = process_counts(windows->processes);
	struct recorded_window *next = NULL, *w = windows->open;
	int err = is_last ? 0 : open_window(windows, w->cgroups, &next);

	if (err)
		return err;
	w->ended_ns = clock_now_ns();
	w->totals = totals_since(totals, &windows->totals);
	if (!is_last)
		leave_to_the_next(w);
	add_totals(&windows->totals, &w->totals);
	w->processes = processes_since(now, &windows->process_counts);
	windows->process_counts = *now;
	windows->open = next;
	*ret = w;
	return 0;
}
