/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps that ticks look up and user space writes: what is known of each
 * process, and the pages of unwind tables and mappings (shared/unwind.h).
 * Borrowed from a sampler, and valid as long as it.
 */
#ifndef WEFT_KERN_PUBLISH_MAPS_H
#define WEFT_KERN_PUBLISH_MAPS_H

#include "shared/hotspot.h"
#include "shared/knobs.h"
#include "shared/unwind.h"

#include <stdint.h>
#include <sys/types.h>

struct publish_maps {
	int processes, files, hotspots; /* descriptors */
	uint32_t *publications;		/* PUBLICATIONS of them, which ticks read, too */
	struct page_slabs *slabs;
	uint32_t n_pages; /* that there may be */
};

/* -E2BIG: there is no room for another process. */
int publish_maps_put_process(const struct publish_maps *maps, pid_t tgid,
			     const struct process_info *process_info);
void publish_maps_remove_process(const struct publish_maps *maps, pid_t tgid);

/* Of a process that will be said to have it; NULL: no more. -E2BIG: there is no room for
 * another. */
int publish_maps_put_hotspot(const struct publish_maps *maps, pid_t tgid,
			     const struct hotspot *vm);

/* kern/page_slabs.h */
uint32_t publish_maps_reach_pages(const struct publish_maps *maps, uint32_t from,
				  uint32_t to);
int publish_maps_write_pages(const struct publish_maps *maps, uint32_t first,
			     const union unwind_page *pages, uint32_t n);

/* A file is told of while ticks may walk by its table; NULL: no more. -E2BIG: there is
 * no room for another. */
int publish_maps_tell_file(const struct publish_maps *maps,
			   const struct unwind_file_key *key,
			   const struct unwind_file *file);

#endif
