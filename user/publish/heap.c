// SPDX-License-Identifier: BSD-2-Clause
#include "publish/heap.h"

#include "base/error.h"

#include <errno.h>

#define TAKEN	      UINT64_MAX
#define LARGE_HEAP    64 /* of that many pages */
#define HEAP_RESERVED 4	 /* so many are reserved */

struct heap {
	struct published_maps maps;
	const struct outside *outside;
	uint32_t next; /* where to look first: behind what was taken last */
	uint32_t used;
	uint32_t reserved;	 /* the first of those for what processes map */
	uint64_t free_from_ns[]; /* by page, or TAKEN */
};

int heap_new(struct heap **ret, const struct published_maps *maps,
	     const struct outside *outside)
{
	struct heap *heap =
		calloc(1, sizeof(*heap) + maps->n_pages * sizeof(*heap->free_from_ns));

	if (!heap)
		return fail(-ENOMEM, "no memory for %u pages of tables", maps->n_pages);
	heap->maps = *maps;
	heap->outside = outside;
	heap->next = 1;
	heap->reserved = maps->n_pages - maps->n_pages / LARGE_HEAP * HEAP_RESERVED;
	if (maps->n_pages) /* number 0 says "none" */
		heap->free_from_ns[0] = TAKEN;
	*ret = heap;
	return 0;
}

void heap_free(struct heap *heap)
{
	free(heap);
}

/* n free pages in a row within [from, to); 0: there are none. */
static uint32_t find(const struct heap *heap, uint32_t from, uint32_t to, uint32_t n,
		     uint64_t now_ns)
{
	uint32_t run = 0;

	for (uint32_t i = from; i < to; i++) {
		run = heap->free_from_ns[i] <= now_ns ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

static uint32_t take(struct heap *heap, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; first && i < n; i++)
		heap->free_from_ns[first + i] = TAKEN;
	heap->used += first ? n : 0;
	return first;
}

uint32_t heap_take(struct heap *heap, uint32_t n, uint64_t now_ns)
{
	uint32_t first = 0;

	if (!n || n >= heap->reserved)
		return 0;
	first = find(heap, heap->next, heap->reserved, n, now_ns);
	if (!first)
		first = find(heap, 1, heap->reserved, n, now_ns);
	if (first)
		heap->next = first + n;
	return take(heap, first, n);
}

uint32_t heap_take_reserved(struct heap *heap, uint32_t n, uint64_t now_ns)
{
	uint32_t first = 0;

	if (!n || n >= heap->maps.n_pages)
		return 0;
	first = find(heap, heap->reserved, heap->maps.n_pages, n, now_ns);
	return first ? take(heap, first, n) : heap_take(heap, n, now_ns);
}

void heap_give(struct heap *heap, uint32_t first, uint32_t n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++)
		heap->free_from_ns[first + i] = now_ns + HEAP_REST_NS;
	heap->used -= n;
}

int heap_write(struct heap *heap, uint32_t first, const union unwind_page *pages,
	       uint32_t n)
{
	return heap->outside->write(&heap->maps, first, pages, n);
}

uint32_t heap_used(const struct heap *heap)
{
	return heap->used;
}

uint32_t heap_pages(const struct heap *heap)
{
	return heap->maps.n_pages;
}
