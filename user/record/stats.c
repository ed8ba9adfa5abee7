// SPDX-License-Identifier: BSD-2-Clause
#include "record/stats.h"

#include "base/error.h"
#include "core/counted.h"

#include <errno.h>

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

uint64_t stats_losses(const struct stats *stats)
{
	uint64_t sum = stats->profile->samples.refused;

	for (int i = 0; i < N_OUTCOMES; i++)
		if (counted_outcomes[i].is_loss)
			sum += stats->totals.ledger.outcomes[i];
	return sum;
}

#define TAPE_TOTALS (9 + N_OUTCOMES + N_ENDINGS)

size_t stats_to_tape(const struct stats *stats, uint64_t numbers[TAPE_TOTALS_MAX])
{
	const struct ledger *ledger = &stats->totals.ledger;
	size_t n = 0;

	_Static_assert(TAPE_TOTALS <= TAPE_TOTALS_MAX, "fits");
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
