/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as windows, one after the other without a gap: each sample is in one of
 * them, and their ledgers add up to that of the whole recording. `weft record` is one
 * window.
 */
#ifndef WEFT_RECORD_WINDOWS_H
#define WEFT_RECORD_WINDOWS_H

#include "kern/sampler.h"
#include "pipeline/window.h"
#include "record/cgroups.h"

/*
 * One window, and what it came to once it is closed. To be freed before the
 * recording is, and soon: what it holds of modules stays open until then.
 */
struct recorded_window {
	struct window *window;
	struct cgroups *cgroups;
	uint64_t begun_ns, ended_ns; /* of samples' clock: when it took them */
	unsigned int hz;	     /* of all its samples */
	/*
	 * The ledger of its own samples: entered = outcomes, and kept = samples in the
	 * window. A sample that its tick kept and that is still on its way counts in the
	 * window that it comes to, with its tick. Only of the last window's nothing is
	 * made to add up: there it shows whether a sample was lost without a word.
	 */
	struct sampler_totals totals;
	int64_t on_their_way;		 /* samples, when it was closed */
	struct process_counts processes; /* since the window before */
};

void recorded_window_free(struct recorded_window *window);
DEFINE_FREEP(recorded_window)

struct windows { /* {0}, then windows_begin() */
	struct module_table *modules;
	const struct process_table *processes;
	struct recorded_window *open; /* NULL: the last was closed */
	unsigned int hz;	      /* of the next ones */
	/* what the closed ones have of the recording's */
	struct sampler_totals totals;
	struct process_counts process_counts;
};

/* Both tables are borrowed and outlive all windows. Opens the first. */
int windows_begin(struct windows *windows, struct module_table *modules,
		  const struct process_table *processes, unsigned int hz);
void windows_end(struct windows *windows); /* what it holds, not itself */

/*
 * Closes the open window and, unless it is the last, opens the next. totals: the
 * recording's up to now; of the last window, to its end, with all samples read.
 */
int windows_close(struct windows *windows, const struct sampler_totals *totals,
		  bool is_last, struct recorded_window **ret);

#endif
