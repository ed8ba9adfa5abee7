/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF object in the kernel, with the knobs and the sizes that a sampler asks for. */
#ifndef WEFT_KERN_LOAD_H
#define WEFT_KERN_LOAD_H

#include "kern/kernel_types.h"
#include "kern/sampler.h"

struct page_slabs;
struct weft_bpf; /* of weft.skel.h */

struct kernel_half { /* {0} and types_fd -1, then load_object() */
	struct weft_bpf *skel;
	struct page_slabs *slabs; /* NULL: without tables */
	int types_fd;		  /* of kernel_types_file(); -1: none */
	char types_path[KERNEL_TYPES_PATH_BYTES];
};

/* The maps and all programs but the tick. On an error, too, it is to be freed. The
 * kernel's own unwind tables have been looked for. */
int load_object(struct kernel_half *half, const struct sampler_config *config);

/* The tick with these parts (enum tick_parts), on the maps of what was loaded. It stays
 * while *ret_fd is open, or an event has it. */
int load_tick(int *ret_fd, const struct kernel_half *half, unsigned int parts);

/* What maps have of the kernel's memory that grow while it samples. */
uint64_t load_growing_bytes(const struct kernel_half *half);

void load_free(struct kernel_half *half); /* what it holds, not itself */

unsigned int load_ring_bytes(unsigned int hz); /* of a CPU's ring, at that rate */

#endif
