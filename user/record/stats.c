// SPDX-License-Identifier: BSD-2-Clause
#include "record/stats.h"

#include "base/error.h"
#include "core/counted.h"

#include <errno.h>
#include <string.h>

static bool adds_up(const struct ledger *ledger, uint64_t samples)
{
	uint64_t sum = 0, ended = 0;

	for (int i = 0; i < N_OUTCOMES; i++)
		sum += ledger->outcomes[i];
	for (int i = 0; i < N_ENDINGS; i++)
		ended += ledger->endings[i];
	return sum == ledger->entered && ended == ledger->outcomes[OUTCOME_KEPT] &&
	       samples == ledger->outcomes[OUTCOME_KEPT];
}

static struct view_sums sum_view(const struct profile *profile, enum view view)
{
	const struct timeline *timeline = &profile->timeline;
	struct view_sums sums = { 0 };

	for (size_t i = 0; i < timeline->sample_keys.n; i++) {
		uint32_t notes =
			profile->stacks.items[timeline->sample_keys.items[i].a].notes;
		uint64_t count = timeline->counts.items[i];

		if (notes & STACK_COMPLETE_ASYNC << view)
			sums.complete += count;
		if (notes & STACK_SUSPECT_ASYNC << view)
			sums.suspect += count;
		if (notes & STACK_GAP_ASYNC << view)
			sums.gaps += count;
		sums.endings[STACK_ENDING(notes, view)] += count;
	}
	return sums;
}

void stats_count_views(struct stats *stats, const struct profile *profile,
		       enum view written)
{
	stats->view = written;
	for (int view = 0; view < N_VIEWS; view++)
		stats->views[view] = sum_view(profile, (enum view)view);
}

void stats_check(struct stats *stats)
{
	stats->adds_up = true;
	for (int hook = 0; hook < N_HOOKS; hook++)
		stats->adds_up &= adds_up(&stats->totals.ledgers[hook],
					  stats->aggregator->by_hook[hook].samples);
}

uint64_t stats_missed_ticks(const struct stats *stats)
{
	const struct ledger *ledger = &stats->totals.ledgers[HOOK_ONCPU];
	uint64_t expected = stats->totals.expected_ticks;
	uint64_t busy = ledger->entered - ledger->outcomes[OUTCOME_IDLE];

	return expected > busy ? expected - busy : 0;
}

uint64_t stats_stolen_ticks(const struct stats *stats)
{
	uint64_t missed = stats_missed_ticks(stats);

	return stats->totals.stolen_ticks < missed ? stats->totals.stolen_ticks : missed;
}

uint64_t stats_losses(const struct stats *stats)
{
	uint64_t sum = stats->aggregator->samples.refused;

	for (int hook = 0; hook < N_HOOKS; hook++)
		for (int i = 0; i < N_OUTCOMES; i++)
			if (counted_outcomes[i].is_loss)
				sum += stats->totals.ledgers[hook].outcomes[i];
	return sum;
}

#define TAPE_HEAD   9 /* what is said of the run; hooks, outcomes and endings */
#define TAPE_LEDGER (1 + N_OUTCOMES + N_ENDINGS)
#define TAPE_TOTALS (TAPE_HEAD + N_HOOKS * TAPE_LEDGER)

_Static_assert(TAPE_TOTALS <= TAPE_TOTALS_MAX, "fits");

size_t stats_to_tape(const struct stats *stats, uint64_t numbers[TAPE_TOTALS_MAX])
{
	const uint64_t head[TAPE_HEAD] = {
		stats->hz,
		stats->event,
		stats->duration_ns,
		stats->totals.expected_ticks,
		stats->totals.stolen_ticks,
		stats->publisher.processes,
		N_HOOKS,
		N_OUTCOMES,
		N_ENDINGS,
	};
	size_t n = TAPE_HEAD;

	memcpy(numbers, head, sizeof(head));
	for (int hook = 0; hook < N_HOOKS; hook++) {
		const struct ledger *ledger = &stats->totals.ledgers[hook];

		numbers[n++] = ledger->entered;
		for (int i = 0; i < N_OUTCOMES; i++)
			numbers[n++] = ledger->outcomes[i];
		for (int i = 0; i < N_ENDINGS; i++)
			numbers[n++] = ledger->endings[i];
	}
	return n;
}

int stats_from_tape(struct stats *stats, const uint64_t *numbers, size_t n)
{
	const uint64_t *next = numbers + TAPE_HEAD;

	if (n != TAPE_TOTALS || numbers[6] != N_HOOKS || numbers[7] != N_OUTCOMES ||
	    numbers[8] != N_ENDINGS || !numbers[0])
		return fail(-EBADMSG, "totals of %zu numbers", n);
	stats->hz = (unsigned int)numbers[0];
	stats->event = numbers[1] == TICK_CYCLES ? TICK_CYCLES : TICK_CPU_CLOCK;
	stats->duration_ns = numbers[2];
	stats->totals.expected_ticks = numbers[3];
	stats->totals.stolen_ticks = numbers[4];
	stats->publisher.processes = numbers[5];
	for (int hook = 0; hook < N_HOOKS; hook++) {
		struct ledger *ledger = &stats->totals.ledgers[hook];

		ledger->entered = *next++;
		for (int i = 0; i < N_OUTCOMES; i++)
			ledger->outcomes[i] = *next++;
		for (int i = 0; i < N_ENDINGS; i++)
			ledger->endings[i] = *next++;
	}
	return 0;
}
