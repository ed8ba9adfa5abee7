/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF object in the kernel, with the knobs and the sizes that a sampler asks for. */
#ifndef WEFT_KERN_LOAD_H
#define WEFT_KERN_LOAD_H

#include "kern/sampler.h"

struct page_slabs;
struct weft_bpf; /* of weft.skel.h */

/* Into *ret, and the pages of its tables, if there are to be any, into *slabs. Both are
 * NULL before; on an error, too, they are to be destroyed. The kernel's own unwind tables
 * have been looked for. */
int load_object(struct weft_bpf **ret, struct page_slabs **slabs,
		const struct sampler_config *config);

unsigned int load_ring_bytes(unsigned int hz); /* of a CPU's ring, at that rate */

#endif
