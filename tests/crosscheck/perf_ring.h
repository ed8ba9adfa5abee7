/* SPDX-License-Identifier: BSD-2-Clause */
/* A CPU's tick that also writes the kernel's samples, and their ring. */
#ifndef CROSSCHECK_PERF_RING_H
#define CROSSCHECK_PERF_RING_H

#include "kern/events.h"
#include "machine.h"

#include <stddef.h>

#define RECORD_BYTES_MAX (64u << 10) /* perf_event_header.size is 16 bits */

struct perf_ring {
	int fd; /* not owned: the sampler closes it */
	uint16_t cpu;
	void *page;
	unsigned char *wrapped;
	uint64_t tail; /* read up to here */
	uint64_t lost;
};

/* Borrows the ring, until the next call of perf_ring_next(). */
struct perf_sample {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t has_user;
	const uint64_t *regs; /* N_REGS; zeros where there are none */
	const unsigned char *stack;
	uint64_t stack_bytes, dump_bytes;
};

int perf_ring_open(struct perf_ring *ret, enum tick_event event, unsigned int hz,
		   int cpu);
void perf_ring_close(struct perf_ring *ring);

/* Takes the next sample; false: there is none for now. */
bool perf_ring_next(struct perf_ring *ring, struct perf_sample *ret);

#endif
