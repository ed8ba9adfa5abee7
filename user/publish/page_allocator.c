// SPDX-License-Identifier: BSD-2-Clause
#include "publish/page_allocator.h"

#include "base/error.h"

#include <errno.h>

#define TAKEN	      UINT64_MAX
#define LARGE_HEAP    64 /* of that many pages */
#define HEAP_RESERVED 4	 /* so many are reserved */

/* Pages [begin, end), of which the kernel has those before `there` by now. */
struct region {
	uint32_t begin, end, there;
};

struct page_allocator {
	struct publish_maps maps;
	const struct outside *outside;
	struct region reserved; /* for what processes map */
	struct region rest;
	uint32_t next; /* of the rest, where to look first: behind what was taken last */
	uint32_t used;
	uint64_t free_from_ns[]; /* by page, or TAKEN */
};

/* As far as it is there. */
static uint32_t end_of(const struct region *region)
{
	return region->there < region->end ? region->there : region->end;
}

static void reach(const struct page_allocator *allocator, struct region *region,
		  uint32_t to)
{
	region->there = allocator->outside->reach(&allocator->maps, region->begin, to);
}

int page_allocator_new(struct page_allocator **ret, const struct publish_maps *maps,
		       const struct outside *outside)
{
	struct page_allocator *allocator = calloc(
		1, sizeof(*allocator) + maps->n_pages * sizeof(*allocator->free_from_ns));

	if (!allocator)
		return fail(-ENOMEM, "no memory for %u pages of tables", maps->n_pages);
	allocator->maps = *maps;
	allocator->outside = outside;
	allocator->next = 1 + maps->n_pages / LARGE_HEAP * HEAP_RESERVED;
	allocator->reserved = (struct region){ 1, allocator->next, 0 };
	allocator->rest = (struct region){ allocator->next, maps->n_pages, 0 };
	if (maps->n_pages) { /* number 0 says "none" */
		allocator->free_from_ns[0] = TAKEN;
		reach(allocator, &allocator->reserved, 1);
		reach(allocator, &allocator->rest, 1);
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

/* The same in a region, for whom the kernel gets more pages if it has too few. */
static uint32_t find_or_grow(struct page_allocator *allocator, struct region *region,
			     uint32_t n, uint64_t now_ns)
{
	uint32_t end = end_of(region);
	uint32_t first = find(allocator, region->begin, end, n, now_ns), wanted;

	if (first || end == region->end)
		return first;
	wanted = (end > region->begin ? end : region->begin) + n;
	reach(allocator, region, wanted < region->end ? wanted : region->end);
	return find(allocator, region->begin, end_of(region), n, now_ns);
}

uint32_t page_allocator_alloc(struct page_allocator *allocator, uint32_t n,
			      uint64_t now_ns)
{
	uint32_t first;

	if (!n || n >= allocator->maps.n_pages ||
	    n > allocator->rest.end - allocator->rest.begin)
		return 0;
	first = find(allocator, allocator->next, end_of(&allocator->rest), n, now_ns);
	if (!first)
		first = find_or_grow(allocator, &allocator->rest, n, now_ns);
	if (first)
		allocator->next = first + n;
	return take(allocator, first, n);
}

uint32_t heap_take_reserved(struct page_allocator *allocator, uint32_t n, uint64_t now_ns)
{
	uint32_t first = 0;

	if (!n || n >= allocator->maps.n_pages)
		return 0;
	first = find_or_grow(allocator, &allocator->reserved, n, now_ns);
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
