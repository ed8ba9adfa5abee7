/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an agent counts, for those who ask it: as Prometheus reads it, and as a small
 * page for people. All of it adds up: ticks = idle + excluded + kept + lost by reason;
 * profiles of a receiver: made + found = delivered + waiting + refused + dropped.
 */
#ifndef WEFT_AGENT_METRICS_H
#define WEFT_AGENT_METRICS_H

#include "agent/budget.h"
#include "agent/pause.h"
#include "agent/shipping.h"
#include "agent/usage.h"
#include "record/stats.h"

struct metrics {
	uint64_t begun_unix_ns;
	enum pause pause;
	const struct budget *budget;
	struct usage usage; /* at the last turn of the budget */
	uint64_t kernel_bytes_max;
	uint64_t kernel_bytes; /* the kernel's memory, while it samples */
	uint64_t unwind_bytes; /* of that, for unwind tables */
	uint64_t rate_changes; /* by the budget */
	uint64_t let_go;       /* how often names were, for want of memory */
	uint64_t windows;
	uint64_t slowed_windows;       /* of these, at a lower rate than was asked for */
	uint64_t samples;	       /* in windows */
	uint64_t outcomes[N_OUTCOMES]; /* of ticks, of all hooks */
	uint64_t dropped_by_rule;      /* samples in windows, which no receiver gets */
	uint64_t refused;	       /* samples beyond a window's limits */
	uint64_t kernel_differed;      /* its stacks that it tells otherwise */
	uint64_t missed_ticks;	       /* estimated: the kernel never let them in */
	uint64_t listener_restarts;
	struct debuginfod_counts debuginfod; /* since the start */
	struct declared_counts declared;     /* the same */
};

/* A window that was closed. */
void metrics_add(struct metrics *metrics, const struct stats *stats);

void metrics_prometheus(struct str *out, const struct metrics *metrics,
			const struct shipping *shipping, size_t n_receivers);
void metrics_page(struct str *out, const struct metrics *metrics,
		  const struct shipping *shipping, size_t n_receivers);

#endif
