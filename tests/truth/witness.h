/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the profiler was kept from its work, as the kernel tells it. While the
 * profiler can't run it can't publish what ticks look up, so samples that came before
 * their unwind table are excused by this time, and not because the profiler says so.
 *
 * At each look: of the profiler and its helpers, the one that waited longest for a CPU
 * since the last look may have been the one that the others waited for.
 */
#ifndef TRUTH_WITNESS_H
#define TRUTH_WITNESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is needed to make the tables of a program, while nothing keeps the profiler. */
#define WITNESS_WORK_NS 150000000ULL

#define WITNESS_TASKS_MAX 16

/* Of one process, and its helpers below it. */
struct witness {
	pid_t pid;
	struct {
		pid_t pid;
		uint64_t waited_ns;
	} tasks[WITNESS_TASKS_MAX];
	size_t n;
	unsigned int calls;
	uint64_t looked_ns;    /* when last */
	uint64_t stopped_ns;   /* on purpose, since then */
	uint64_t stolen_ticks; /* by the hypervisor, until then */
	uint64_t program_ns;   /* the program that is recorded was there; or 0 */
	uint64_t free_ns;      /* since then, what nobody kept the profiler from */
	uint64_t waited_ns;    /* since then, the rest */
	uint64_t deadline_ns;  /* that much after, it had WITNESS_WORK_NS; or 0 */
};

void witness_begin(struct witness *ret, pid_t pid);

/* While it runs, again and again: what has ended tells nothing any more. */
void witness_look(struct witness *witness);

/* It was stopped on purpose. */
void witness_stopped(struct witness *witness, uint64_t ns);

/* Of that, what the judge asks. Tables that the program needs at its beginning may come
 * so late, and all that it is ever kept from is so long. */
struct excuse {
	uint64_t deadline_ns, waited_ns;
};

struct excuse witness_excuse(const struct witness *witness);

#endif
