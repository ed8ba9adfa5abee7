/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events that tick, one a CPU and all at one rate; and how many ticks were due,
 * which the ledger is held against. A change of the rate begins a stretch of its own,
 * since each stretch has its period.
 */
#ifndef WEFT_KERN_TICKS_H
#define WEFT_KERN_TICKS_H

#include "kern/cpus.h"
#include "kern/events.h"

struct due_ticks {
	/* of CPUs while not idle: (enabled - idle time) / period; 0: can't be known */
	uint64_t expected;
	uint64_t stolen; /* due while a hypervisor ran something else: estimate */
};

struct ticks { /* {0}, then ticks_begin() */
	enum tick_event event;
	unsigned int hz;
	int n_cpus, *fds; /* by CPU; -1: none */
	bool running;
	struct cpus_away away; /* at the start; then while it ran */
	uint64_t gone;	       /* due on CPUs that went offline since */
	struct due_ticks past; /* of the stretches before this one */
};

int ticks_begin(struct ticks *ticks, enum tick_event event, unsigned int hz, int n_cpus);
void ticks_end(struct ticks *ticks); /* what it holds, not itself */

static inline uint64_t ticks_period_ns(unsigned int hz)
{
	return 1000000000ULL / hz;
}

/* Opens a CPU's event, with that program attached, or -1; it ticks if the others do.
 * -ENODEV: the CPU is not there. */
int ticks_add_cpu(struct ticks *ticks, int cpu, int program);
int ticks_attach(struct ticks *ticks, int program); /* to all, which have none */
/* A CPU that went away takes its event with it, for good. */
void ticks_drop_cpu(struct ticks *ticks, int cpu);
bool ticks_has_cpu(const struct ticks *ticks, int cpu);
/* Does its event stand still? So it does once its CPU went away, and stays so when that
 * is back. An interrupt there, twice. */
bool ticks_still(const struct ticks *ticks, int cpu);

int ticks_start(struct ticks *ticks);
int ticks_stop(struct ticks *ticks); /* none is under way any more */

/* At that rate, with that program, while they are stopped. A CPU that has just gone away
 * is dropped. */
int ticks_reopen(struct ticks *ticks, unsigned int hz, int program);

struct due_ticks ticks_due(const struct ticks *ticks); /* since the first start */

#endif
