// SPDX-License-Identifier: BSD-2-Clause
#include "publish/page_allocator.h"

#include "base/error.h"

#include <errno.h>

#define TAKEN	      UINT64_MAX
#define LARGE_HEAP    64 /* of that many pages */
#define HEAP_RESERVED 4	 /* so many are reserved */

struct page_allocator {
	struct publish_maps maps;
	const struct outside *outside;
	uint32_t next; /* where to look first: behind what was taken last */
	uint32_t used;
	uint32_t reserved;	 /* up to that one they are for what processes map */
	uint32_t there;		 /* so many of them the kernel has by now */
	uint64_t free_from_ns[]; /* by page, or TAKEN */
};

int page_allocator_new(struct page_allocator **ret, const struct publish_maps *maps,
		       const struct outside *outside)
{
	struct page_allocator *allocator = calloc(
		1, sizeof(*allocator) + maps->n_pages * sizeof(*allocator->free_from_ns));

	if (!allocator)
		return fail(-ENOMEM, "no memory for %u pages of tables", maps->n_pages);
	allocator->maps = *maps;
	allocator->outside = outside;
	allocator->reserved = 1 + maps->n_pages / LARGE_HEAP * HEAP_RESERVED;
	allocator->next = allocator->reserved;
	if (maps->n_pages) { /* number 0 says "none" */
		allocator->free_from_ns[0] = TAKEN;
		allocator->there = outside->reach(maps, 1);
	}
	*ret = allocator;
	return 0;
}

void page_allocator_free(struct page_allocator *allocator)
{
	free(allocator);
}

/* n free pages in a row within [from, to); 0: there are none. */
static uint32_t find(const struct page_allocator *allocator, uint32_t from, uint32_t to,
		     uint32_t n, uint64_t now_ns)
{
	uint32_t run = 0;

	for (uint32_t i = from; i < to; i++) {
		run = allocator->free_from_ns[i] <= now_ns ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

static uint32_t take(struct page_allocator *allocator, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; first && i < n; i++)
		allocator->free_from_ns[first + i] = TAKEN;
	allocator->used += first ? n : 0;
	return first;
}

/* The same, for whom the kernel gets more pages if it has too few. */
static uint32_t find_or_grow(struct page_allocator *allocator, uint32_t from, uint32_t to,
			     uint32_t n, uint64_t now_ns)
{
	uint32_t there = allocator->there < to ? allocator->there : to;
	uint32_t first = find(allocator, from, there, n, now_ns), wanted;

	if (first || there == to)
		return first;
	wanted = (there > from ? there : from) + n;
	allocator->there =
		allocator->outside->reach(&allocator->maps, wanted < to ? wanted : to);
	there = allocator->there < to ? allocator->there : to;
	return find(allocator, from, there, n, now_ns);
}

uint32_t page_allocator_alloc(struct page_allocator *allocator, uint32_t n,
			      uint64_t now_ns)
{
	uint32_t n_pages = allocator->maps.n_pages, first = 0;

	if (!n || n >= n_pages || n > n_pages - allocator->reserved)
		return 0;
	if (allocator->next < allocator->there)
		first = find(allocator, allocator->next, allocator->there, n, now_ns);
	if (!first)
		first = find_or_grow(allocator, allocator->reserved, n_pages, n, now_ns);
	if (first)
		allocator->next = first + n;
	return take(allocator, first, n);
}

uint32_t heap_take_reserved(struct page_allocator *allocator, uint32_t n, uint64_t now_ns)
{
	uint32_t first = 0;

	if (!n || n >= allocator->maps.n_pages)
		return 0;
	first = find_or_grow(allocator, 1, allocator->reserved, n, now_ns);
	return first ? take(allocator, first, n)
		     : page_allocator_alloc(allocator, n, now_ns);
}

void page_allocator_release(struct page_allocator *allocator, uint32_t first, uint32_t n,
			    uint64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++)
		allocator->free_from_ns[first + i] = now_ns + PAGE_QUARANTINE_NS;
	allocator->used -= n;
}

int page_allocator_write(struct page_allocator *allocator, uint32_t first,
			 const union unwind_page *pages, uint32_t n)
{
	return allocator->outside->write(&allocator->maps, first, pages, n);
}

uint32_t page_allocator_used(const struct page_allocator *allocator)
{
	return allocator->used;
}

uint32_t heap_pages(const struct page_allocator *allocator)
{
	return allocator->maps.n_pages;
}
