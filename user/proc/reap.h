/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes whose end was not told, because the record was lost: looked up in
 * /proc, and ended by the record that perf would have written. Without this they
 * would be known for ever, and whoever has their pid next, by mappings not its own.
 */
#ifndef WEFT_PROC_REAP_H
#define WEFT_PROC_REAP_H

#include "core/event.h"
#include "proc/opener.h"
#include "proc/process.h"

/*
 * An EXIT record for each process of the table that has ended, or whose pid is
 * another's. It is stamped so that it can't end whoever has the pid by now. Those
 * that `reaped` (or NULL) has as well are left out. The sink does not change a table.
 * Who is to stop leaves the rest.
 */
int reap_lost_exits(struct opener *opener, const struct process_table *table,
		    const struct process_table *reaped, const struct event_sink *sink);

#endif
