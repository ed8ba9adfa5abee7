/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From raw events to a window: puts samples and sideband records in the order of
 * their times, keeps the process table by the latter, and hands on the former, each
 * with its process as it was when it fell. The same for a live source and for a
 * tape: nothing here looks at the machine.
 *
 * Where samples go is the sink's: it may take another window for each of them, at
 * any time (pipeline/window.h). What outlives windows lives here: processes and
 * modules.
 */
#ifndef WEFT_PIPELINE_PIPELINE_H
#define WEFT_PIPELINE_PIPELINE_H

#include "core/event.h"
#include "proc/process.h"
#include "proc/replaced.h"
#include "shared/record.h"

struct pipeline;

/* All may be left out; process.arg goes to all of them. */
struct pipeline_sink {
	struct process_sink process;
	/* A sample's turn; process: NULL when nothing is known of it. */
	int (*sample)(void *arg, const struct sample_rec *rec,
		      const struct process *process);
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

/* Whose places are told by who publishes mappings: a sample that was walked by rules of
 * other code than there is ends behind its first frame in that, awaited. */
struct replaced *pipeline_replaced(struct pipeline *pipeline);

struct module_table *pipeline_modules(struct pipeline *pipeline);
struct process_table *pipeline_processes(struct pipeline *pipeline);
uint64_t pipeline_first_sample_ns(const struct pipeline *pipeline); /* 0: none yet */

#endif
