/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From raw events to an aggregator: puts samples and sideband records in the order
 * of their times, keeps the process table by the latter, and counts the former,
 * each named by the mapping that was there when it fell. The same for a live
 * source and for a tape: nothing here looks at the machine.
 */
#ifndef WEFT_PIPELINE_PIPELINE_H
#define WEFT_PIPELINE_PIPELINE_H

#include "core/aggregator.h"
#include "core/event.h"
#include "proc/process.h"

struct pipeline;

/* For a live source; all may be left out. */
struct pipeline_sink {
	struct process_sink process;
	/* A sample found that what was published for it is another incarnation's. */
	void (*stale)(void *arg, uint32_t tgid);
	/* A walk ended at addr, since the table of the code there was not there yet. */
	void (*awaited)(void *arg, uint32_t tgid, uint64_t addr, uint64_t time_ns);
};

int pipeline_new(struct pipeline **ret, const struct pipeline_sink *sink);
void pipeline_free(struct pipeline *pipeline);
DEFINE_FREEP(pipeline)

/* Events go in here, in any order of times. */
struct event_sink pipeline_input(struct pipeline *pipeline);

/*
 * Processes everything that is older than horizon_ns. The caller knows that
 * no event older than that is still to come.
 */
int pipeline_advance(struct pipeline *pipeline, uint64_t horizon_ns);

struct aggregator *pipeline_aggregator(struct pipeline *pipeline);
struct module_table *pipeline_modules(struct pipeline *pipeline);
struct process_table *pipeline_processes(struct pipeline *pipeline);
uint64_t pipeline_first_sample_ns(const struct pipeline *pipeline); /* 0: none yet */

#endif
