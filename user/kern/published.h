/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps that ticks look up and user space writes: what is known of each
 * process, and the pages of unwind tables and mappings (shared/unwind.h).
 * Borrowed from a sampler, and valid as long as it.
 */
#ifndef WEFT_KERN_PUBLISHED_H
#define WEFT_KERN_PUBLISHED_H

#include "shared/knobs.h"
#include "shared/unwind.h"

#include <stdint.h>
#include <sys/types.h>

struct published_maps {
	int processes, pages; /* descriptors */
	uint32_t n_pages;
};

/* -E2BIG: there is no room for another process. */
int published_put(const struct published_maps *maps, pid_t tgid,
		  const struct published *what);
void published_remove(const struct published_maps *maps, pid_t tgid);

/* Pages [first, first + n). A tick may read one while it is written. */
int published_write(const struct published_maps *maps, uint32_t first,
		    const union unwind_page *pages, uint32_t n);

#endif
