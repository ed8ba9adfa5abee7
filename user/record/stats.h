/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger of a run, for a person (a few lines on stderr), for a program
 * (JSON) and for a tape.
 */
#ifndef WEFT_RECORD_STATS_H
#define WEFT_RECORD_STATS_H

#include "base/str.h"
#include "core/aggregator.h"
#include "core/profile.h"
#include "core/view.h"
#include "record/cut_generated.h"
#include "record/keyless.h"
#include "kern/sampler.h"
#include "record/name_ledger.h"
#include "publish/publisher.h"
#include "sym/symbolizer.h"
#include "tape/tape.h"

/* How many samples each of a view's notes holds for. */
struct view_sums {
	uint64_t complete, suspect, gaps;
	unsigned long long endings[N_ENDINGS];
};

#define N_VIEWS 2 /* VIEW_ASYNC, VIEW_THREAD */

struct stats {
	unsigned int hz;
	enum tick_event event;
	uint64_t duration_ns;
	uint64_t first_sample_ns; /* from the start of the program to the first */
	uint64_t finish_ns;	  /* from the last tick to the written file */
	int nice;		  /* weft's own, as it was started */
	struct sampler_totals totals;
	const struct aggregator *aggregator;
	struct process_counts processes;
	struct file_counts files;
	struct jitdump_counts jitdumps;
	struct worker_counts worker;
	struct opener_counts opener;
	struct symbolizer_counts symbols;
	uint64_t returns_unread; /* sym/return_check.h */
	struct debuginfod_counts debuginfod;
	struct publisher_counts publisher;
	struct keyless keyless;
	struct name_ledger names;
	uint64_t unproven_generated; /* of samples.unproven: record/unproven.h */
	struct cut_generated cut_generated;
	struct view_sums views[N_VIEWS];
	enum view view; /* the one that was written */
	bool adds_up;	/* entered = sum of outcomes, kept = samples read */
};

/* What the profile's stacks come to in each view. */
void stats_count_views(struct stats *stats, const struct profile *profile,
		       enum view written);

/* Checks the sums; call once the totals and the aggregator are complete. */
void stats_check(struct stats *stats);

/* Ticks that the kernel never let in; 0 where that can't be estimated. */
uint64_t stats_missed_ticks(const struct stats *stats);

/* How many of these at most, since a hypervisor ran something else then. */
uint64_t stats_stolen_ticks(const struct stats *stats);

/* Samples, by the ledger, that are in no profile. */
uint64_t stats_losses(const struct stats *stats);

void stats_json(struct str *out, const struct stats *stats);
void stats_summary(struct str *out, const struct stats *stats);

/* As the numbers of a TAPE_TOTALS item, and back. */
size_t stats_to_tape(const struct stats *stats, uint64_t numbers[TAPE_TOTALS_MAX]);
int stats_from_tape(struct stats *stats, const uint64_t *numbers, size_t n);

#endif
