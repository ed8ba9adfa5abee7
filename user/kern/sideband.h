/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf's own records of what every process maps, names itself, forks and ends
 * in: one ring a CPU, read without copying except where a record wraps.
 */
#ifndef WEFT_KERN_SIDEBAND_H
#define WEFT_KERN_SIDEBAND_H

#include "base/cleanup.h"
#include "core/event.h"

struct sideband;

int sideband_new(struct sideband **ret, int n_cpus);
void sideband_free(struct sideband *sideband);
DEFINE_FREEP(sideband)

/* Opens and enables a CPU's ring; joins epoll_fd. Nothing if it is open. */
int sideband_add_cpu(struct sideband *sideband, int cpu, int epoll_fd);

/* Closes the ring of a CPU that went offline; what it held is given up. */
void sideband_drop_cpu(struct sideband *sideband, int cpu);

size_t sideband_cpu_bytes(void);			/* of a ring */
size_t sideband_bytes(const struct sideband *sideband); /* of those that are open */

/* Hands on everything that is in the rings now. */
int sideband_read(struct sideband *sideband, const struct event_sink *sink);

#endif
