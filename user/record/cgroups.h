/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroup of each process of a window's profile, soon after its first sample there. It
 * is asked for in the first two windows that know of a process, then in every sixth, and
 * taken over from one to the next meanwhile. One that has ended by then is taken for its
 * parent's, as it began there; or its parent's parent's, and so on. */
#ifndef WEFT_RECORD_CGROUPS_H
#define WEFT_RECORD_CGROUPS_H

#include "core/aggregator.h"
#include "proc/process.h"

struct cgroups;

/* before: of the window before; what it knows of processes that are still remembered
 * is taken over. NULL: there is none. */
int cgroups_new(struct cgroups **ret, const struct cgroups *before,
		const struct process_table *processes);
void cgroups_free(struct cgroups *cgroups);
DEFINE_FREEP(cgroups)

/* Those that came to the aggregator since. processes: the same, and their parents. */
int cgroups_look(struct cgroups *cgroups, const struct aggregator *aggregator,
		 const struct process_table *processes);

/* By the aggregator's number of the process; "" or NULL: not known. */
const char *cgroups_of(const struct cgroups *cgroups, uint32_t process);

#endif
