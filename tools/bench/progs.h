/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf_event BPF programs that a process has open, and the kernel's own
 * account of how often and how long they ran. They are held from when they
 * are found, so that the account can be read after the process has ended.
 */
#ifndef BENCH_PROGS_H
#define BENCH_PROGS_H

#include <stdint.h>
#include <sys/types.h>

#define PROGS_MAX 16

struct progs {
	int n;
	unsigned int ids[PROGS_MAX];
	int fds[PROGS_MAX]; /* -1: of another type */
};

struct run_time {
	uint64_t runs, ns;
};

/* Adds what is new. */
void progs_find(struct progs *progs, pid_t pid);
struct run_time progs_run_time(const struct progs *progs);

/*
 * Lets the first of them run at hz on the CPU time of one task, and nothing
 * else of it. Returns the event, or -1: there is none yet, or it can't be.
 */
int progs_attach(const struct progs *progs, pid_t task, unsigned int hz);

#endif
