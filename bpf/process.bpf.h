/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was published about the process that a tick fell on. */
#ifndef WEFT_PROCESS_BPF_H
#define WEFT_PROCESS_BPF_H

#include "maps.bpf.h"

/* Whether it has keys, into s->has_keys, and what it has mapped. */
int process_begin(__u32 hook);

/* Is the frame at hand where the sampled thread's own stack begins? */
enum base {
	BASE_AWAY,
	BASE_NEAR,     /* so far from it as a thread's first frames may be */
	BASE_BELIEVED, /* there, or where nothing tells */
};

int process_find_base(__u32 hook); /* enum base */

/* Is the frame at hand on what the sampled thread has as its alternate stack? */
int process_has_alternate(__u32 hook);

/* Has it mapped more code than is known of? What was unmapped is not told, so "no" is
 * not certain. */
int process_maps_more(__u32 hook);

#endif
