/* SPDX-License-Identifier: BSD-2-Clause */
/* What weft uses of the machine, as the kernel counts it for this process and for those
 * that it has started: openers, parsers, senders, the listener. */
#ifndef WEFT_AGENT_USAGE_H
#define WEFT_AGENT_USAGE_H

#include <stdint.h>

/* CPU times since the start. Those of helpers that nobody waited for end with them. */
struct usage {
	uint64_t own_ns;     /* and of children that were waited for */
	uint64_t helpers_ns; /* that are alive, and of their children */
	uint64_t kernel_ns;  /* of samples, by the BPF program's own clock */
};

struct usage usage_now(void); /* but kernel_ns */

/* From one time to another. */
uint64_t usage_since(const struct usage *now, const struct usage *before);

uint64_t usage_resident_bytes(void); /* of this process */
uint64_t usage_peak_bytes(void);     /* the most that was; asks no file */

/* Of all that it has started, but for pages of files: their code is ours, too. */
uint64_t usage_helper_bytes(void);

#endif
