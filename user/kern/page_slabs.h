/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of unwind tables and of what processes map (shared/unwind.h) as the kernel
 * has them: in slabs of UNWIND_SLAB_PAGES, a map each, which are made as they are needed
 * and stay. So there is memory for no more than was used at one time, and a start has no
 * more of it to clear.
 */
#ifndef WEFT_KERN_PAGE_SLABS_H
#define WEFT_KERN_PAGE_SLABS_H

#include "base/cleanup.h"
#include "shared/unwind.h"

#include <stdbool.h>
#include <stdint.h>

struct page_slabs;

/* Room for so many slabs, of which the first is made; few: later they come one at a
 * time. */
int page_slabs_new(struct page_slabs **ret, uint32_t most, bool few);
void page_slabs_free(struct page_slabs *slabs); /* NULL is fine */
DEFINE_FREEP(page_slabs)

/* What lies in the map of slabs looks like this one, of which a descriptor is returned;
 * it stays ours. */
int page_slabs_model(const struct page_slabs *slabs);

/* From now on they lie in that map, whose descriptor is borrowed; called again, it does
 * nothing. Until then nobody waits for those that are made. */
int page_slabs_begin(struct page_slabs *slabs, int outer);

/* All pages from `from` up to what it returns are there; that is `to` or more if it can
 * be: what is not there yet is made, for which the kernel lets us wait, some 10 ms, once
 * they lie in a map. It is told once if it can't. */
uint32_t page_slabs_reach(struct page_slabs *slabs, uint32_t from, uint32_t to);

/* Pages [first, first + n), which are there. A tick may read one while it is written. */
int page_slabs_write(const struct page_slabs *slabs, uint32_t first,
		     const union unwind_page *pages, uint32_t n);

uint32_t page_slabs_pages(const struct page_slabs *slabs); /* that there may be */
uint64_t page_slabs_bytes(const struct page_slabs *slabs); /* of the kernel's memory */

#endif
