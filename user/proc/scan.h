/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of processes that were there before us, or that we lost
 * track of: as the sideband records that perf would have written. What a process maps the
 * opener reads, if there is one. */
#ifndef WEFT_PROC_SCAN_H
#define WEFT_PROC_SCAN_H

#include "core/event.h"
#include "proc/opener.h"
#include "proc/process.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * One process: an exec, then each executable mapping, all at time_ns. 0 also
 * when it is gone meanwhile or has no memory of its own (a kernel thread).
 */
int scan_process(struct opener *opener, pid_t tgid, uint64_t time_ns,
		 const struct event_sink *sink);

/*
 * One that may be known: if it is, and has not become another since, it goes on without
 * an exec. What it has generated keeps its names, and its threads are the same. Stamped
 * with the time at which it is read. known: NULL if nobody is.
 */
int scan_again(struct opener *opener, const struct process_table *known, pid_t tgid,
	       const struct event_sink *sink);

/* The same of one that maps little. -E2BIG: it maps much, and nothing was handed on. */
int scan_again_short(struct opener *opener, const struct process_table *known, pid_t tgid,
		     const struct event_sink *sink);

/* That it is there, and its name. */
int scan_name(pid_t tgid, uint64_t time_ns, const struct event_sink *sink);

/* Which incarnation of a process: fields 22 (start, clock ticks) and 28 (start of the
 * stack) of its stat. As the first two fields of struct process_info. */
struct identity {
	uint64_t start_ticks, start_stack;
};

/* Before and after it was seen that code of these files is mapped at these places; n: at
 * most MAP_PLACES_MAX, or 0. -ESTALE: it is not; -ESRCH: gone; -EPERM: the stack, or all
 * of it, is hidden from us; -ETIMEDOUT: it holds us up. */
int scan_identity(struct opener *opener, pid_t tgid, const struct map_place *places,
		  unsigned int n, struct identity ret[2]);

/* Has it not ended? One that only its parent must take notice of has. A process
 * (whole) lives on when its first thread has ended alone. If it has not, when it
 * began, as field 22 of its stat says: whoever has the pid later began later. 0: its
 * stat can't be read. */
bool scan_is_alive(struct opener *opener, pid_t tid, bool whole,
		   uint64_t *ret_start_ticks);

#endif
