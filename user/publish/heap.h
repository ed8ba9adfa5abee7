/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has which of the pages that ticks read. What is given back may still be
 * under the eyes of a tick, or of a process that inherited it and that we have
 * not heard of, so it rests a while before it is anyone's again.
 */
#ifndef WEFT_PUBLISH_HEAP_H
#define WEFT_PUBLISH_HEAP_H

#include "base/cleanup.h"
#include "publish/outside.h"

#include <stddef.h>

#define HEAP_REST_NS 1000000000ULL

struct heap;

int heap_new(struct heap **ret, const struct published_maps *maps,
	     const struct outside *outside);
void heap_free(struct heap *heap); /* NULL is fine */
DEFINE_FREEP(heap)

/* The first of n pages in a row; 0: no room now. */
uint32_t heap_take(struct heap *heap, uint32_t n, uint64_t now_ns);

/* The same for what processes map, of which nothing is known without: some pages are
 * for that alone, and no table lies between. */
uint32_t heap_take_reserved(struct heap *heap, uint32_t n, uint64_t now_ns);
void heap_give(struct heap *heap, uint32_t first, uint32_t n, uint64_t now_ns);

int heap_write(struct heap *heap, uint32_t first, const union unwind_page *pages,
	       uint32_t n);

uint32_t heap_used(const struct heap *heap);  /* pages, now */
uint32_t heap_pages(const struct heap *heap); /* that there are */

#endif
