// SPDX-License-Identifier: BSD-2-Clause
#include "publish/page_allocator.h"

#include "base/error.h"

#include <errno.h>

#define TAKEN UINT64_MAX

struct page_allocator {
	struct publish_maps maps;
	uint32_t next; /* where to look first: behind what was taken last */
	uint32_t used;
	uint64_t free_from_ns[]; /* by page, or TAKEN */
};

int page_allocator_new(struct page_allocator **ret, const struct publish_maps *maps)
{
	struct page_allocator *allocator = calloc(
		1, sizeof(*allocator) + maps->n_pages * sizeof(*allocator->free_from_ns));

	if (!allocator)
		return fail(-ENOMEM, "no memory for %u pages of tables", maps->n_pages);
	allocator->maps = *maps;
	allocator->next = 1;
	if (maps->n_pages) /* number 0 says "none" */
		allocator->free_from_ns[0] = TAKEN;
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

uint32_t page_allocator_alloc(struct page_allocator *allocator, uint32_t n,
			      uint64_t now_ns)
{
	uint32_t first = 0;

	if (!n || n >= allocator->maps.n_pages)
		return 0;
	first = find(allocator, allocator->next, allocator->maps.n_pages, n, now_ns);
	if (!first)
		first = find(allocator, 1, allocator->maps.n_pages, n, now_ns);
	if (!first)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		allocator->free_from_ns[first + i] = TAKEN;
	allocator->next = first + n;
	allocator->used += n;
	return first;
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
	return publish_maps_write_pages(&allocator->maps, first, pages, n);
}

uint32_t page_allocator_used(const struct page_allocator *allocator)
{
	return allocator->used;
}
