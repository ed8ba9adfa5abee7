/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_event_open(2). */
#ifndef WEFT_KERN_EVENTS_H
#define WEFT_KERN_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* linux/perf_event.h is a large header for a forward declaration */
struct perf_event_attr;

/* One on a process, or -1 for all, and a CPU, or -1 for any: the fd, or -errno. */
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu);

enum tick_event { TICK_CPU_CLOCK, TICK_CYCLES };

const char *tick_event_name(enum tick_event event); /* "cpu-clock", "cycles" */

/* Does the PMU count? Opens cycles on this thread and sees them grow. */
bool cycles_work(void);

/* Adds to the error at hand why a call (by its name) is refused to who has the
 * capabilities, which are looked at first; returns -EPERM. */
int events_refused(const char *call);

/* A disabled sampling event of every task on a CPU: the fd, or -errno. Reading it gives
 * a tick_count. */
struct tick_count {
	uint64_t value;	     /* TICK_CPU_CLOCK: ns */
	uint64_t enabled_ns; /* stands still once the CPU went away */
};
int tick_open(enum tick_event event, unsigned int hz, int cpu);

/* The level of kernel.perf_event_paranoid where this kernel has it ask for CAP_SYS_ADMIN,
 * as Debian's and Ubuntu's do; else 0. */
long perf_paranoia(void);

/* The event that reports maps, comms, forks and exits on a CPU; disabled. */
int sideband_open(int cpu);

#endif
