/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/stat tells of a process, or of the thread of that number. */
#ifndef WEFT_BASE_TASK_STAT_H
#define WEFT_BASE_TASK_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct task_stat {
	char state;	      /* field 3 */
	unsigned int flags;   /* 9: the kernel's PF_… */
	uint64_t cpu_ticks;   /* 14 to 17: its own, and of children it waited for */
	unsigned int threads; /* 20 */
	uint64_t start_ticks; /* 22: since boot */
	uint64_t start_stack; /* 28: 0, or 1 for who may not know */
};

/* False: there is no such task, or it can't be read. */
bool task_stat_read(pid_t tid, struct task_stat *ret);

/* What it ran, and how long it waited for a CPU when it got one in the end; zeroes where
 * the kernel keeps no such figures (CONFIG_SCHED_INFO). */
struct task_sched {
	uint64_t ran_ns, queued_ns;
};

struct task_sched task_sched_read(pid_t tid);

/* The ids of the processes that a process' first thread started, as text; NULL: they
 * can't be read. */
FILE *task_children_open(pid_t pid);

/* Has it ended, and waits for its parent to take notice? whole: as a process, which
 * lives on when its first thread has ended alone. */
bool task_stat_has_ended(const struct task_stat *stat, bool whole);

#endif
