/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time and memory of a process and its descendants, looked at now and
 * then: what was last seen of each is kept after it has ended.
 */
#ifndef BENCH_PROCS_H
#define BENCH_PROCS_H

#include <stdint.h>
#include <sys/types.h>

#define PROCS_MAX 64

struct procs {
	int n;
	struct {
		pid_t pid;
		uint64_t cpu_ns;
		uint64_t rss_kb; /* high-water mark */
	} items[PROCS_MAX];
};

void procs_look(struct procs *procs, pid_t root);

/* Sums over all that were seen; pages that two share count twice. */
uint64_t procs_cpu_ns(const struct procs *procs);
uint64_t procs_rss_kb(const struct procs *procs);

#endif
