/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has which of the pages that ticks read. What is given back may still be
 * under the eyes of a tick, or of a process that inherited it and that we have
 * not heard of, so it is in quarantine a while before it is anyone's again.
 */
#ifndef WEFT_PUBLISH_PAGE_ALLOCATOR_H
#define WEFT_PUBLISH_PAGE_ALLOCATOR_H

#include "base/cleanup.h"
#include "kern/publish_maps.h"

#include <stddef.h>

#define PAGE_QUARANTINE_NS 1000000000ULL

struct page_allocator;

int page_allocator_new(struct page_allocator **ret, const struct publish_maps *maps);
void page_allocator_free(struct page_allocator *allocator); /* NULL is fine */
DEFINE_FREEP(page_allocator)

/* The first of n pages in a row; 0: no room now. */
uint32_t page_allocator_alloc(struct page_allocator *allocator, uint32_t n,
			      uint64_t now_ns);
void page_allocator_release(struct page_allocator *allocator, uint32_t first, uint32_t n,
			    uint64_t now_ns);

int page_allocator_write(struct page_allocator *allocator, uint32_t first,
			 const union unwind_page *pages, uint32_t n);

uint32_t page_allocator_used(const struct page_allocator *allocator); /* pages, now */

#endif
