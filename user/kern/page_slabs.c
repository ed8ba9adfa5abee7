// SPDX-License-Identifier: BSD-2-Clause
#include "kern/page_slabs.h"

#include "base/error.h"
#include "base/log.h"
#include "kern/inner_maps.h"
#include "kern/kernel_memory.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MORE_SLABS  8 /* of 1 MB */
#define BATCH_PAGES 64

struct page_slabs {
	int outer; /* -1: none yet */
	uint32_t n, most;
	uint32_t step; /* so many are made at once, since to set them takes a wait */
	bool is_refused;
	uint64_t slab_bytes; /* of the kernel's memory */
	int fds[];	     /* of the slabs; -1: it is not made yet */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int make_slab(struct page_slabs *slabs, uint32_t number)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "weft_pages", sizeof(uint32_t),
				UNWIND_PAGE_BYTES, UNWIND_SLAB_PAGES, NULL);

	if (fd < 0)
		return fail_errno(-errno, "no memory of the kernel's for unwind tables");
	slabs->fds[number] = fd;
	slabs->n++;
	return 0;
}

static void close_slab(struct page_slabs *slabs, uint32_t number)
{
	close(slabs->fds[number]);
	slabs->fds[number] = -1;
	slabs->n--;
}

int page_slabs_new(struct page_slabs **ret, uint32_t most, bool few)
{
	AUTO(page_slabs) slabs = calloc(1, sizeof(*slabs) + most * sizeof(*slabs->fds));
	int err;

	if (!slabs)
		return fail(-ENOMEM, "no memory for %u slabs of tables", most);
	slabs->outer = -1;
	slabs->most = most;
	slabs->step = few ? 1 : MORE_SLABS;
	for (uint32_t i = 0; i < most; i++)
		slabs->fds[i] = -1;
	err = make_slab(slabs, 0);
	if (err)
		return err;
	slabs->slab_bytes = kernel_memory_of(slabs->fds[0]);
	*ret = GIVE(slabs);
	return 0;
}

void page_slabs_free(struct page_slabs *slabs)
{
	for (uint32_t i = 0; slabs && i < slabs->most; i++)
		if (slabs->fds[i] >= 0)
			close(slabs->fds[i]);
	free(slabs);
}

int page_slabs_model(const struct page_slabs *slabs)
{
	return slabs->fds[0];
}

/* Of the slabs [from, to) those that are made. */
static int set_slabs(const struct page_slabs *slabs, uint32_t from, uint32_t to)
{
	AUTO_FREE uint32_t *keys = calloc(slabs->n, sizeof(*keys));
	AUTO_FREE int *fds = calloc(slabs->n, sizeof(*fds));
	uint32_t n = 0;

	if (!keys || !fds)
		return fail(-ENOMEM, "no memory for %u numbers", slabs->n);
	for (uint32_t i = from; i < to; i++) {
		if (slabs->fds[i] < 0)
			continue;
		keys[n] = i;
		fds[n++] = slabs->fds[i];
	}
	return inner_maps_set(slabs->outer, keys, fds, n);
}

int page_slabs_begin(struct page_slabs *slabs, int outer)
{
	if (slabs->outer >= 0)
		return 0;
	slabs->outer = outer;
	return set_slabs(slabs, 0, slabs->most);
}

/* The first one from there on that is not made. */
static uint32_t find_missing(const struct page_slabs *slabs, uint32_t from)
{
	while (from < slabs->most && slabs->fds[from] >= 0)
		from++;
	return from;
}

/* Those [from, to), of which none is made. Those that can't be set are nobody's. */
static int add_slabs(struct page_slabs *slabs, uint32_t from, uint32_t to)
{
	uint32_t made = from;
	int err = 0;

	while (!err && made < to) {
		err = make_slab(slabs, made);
		made += !err;
	}
	if (!err && slabs->outer >= 0)
		err = set_slabs(slabs, from, to);
	while (err && made > from)
		close_slab(slabs, --made);
	return err;
}

/* Up to which slab to make those from that one on: up to one that is made at most. */
static uint32_t choose_end(const struct page_slabs *slabs, uint32_t from, uint32_t wanted)
{
	uint32_t to = from;

	if (slabs->outer >= 0 && wanted < from + slabs->step)
		wanted = least(from + slabs->step, slabs->most);
	while (to < wanted && slabs->fds[to] < 0)
		to++;
	return to;
}

uint32_t page_slabs_reach(struct page_slabs *slabs, uint32_t from, uint32_t to)
{
	uint32_t wanted = (to + UNWIND_SLAB_PAGES - 1) / UNWIND_SLAB_PAGES;
	uint32_t missing = find_missing(slabs, from / UNWIND_SLAB_PAGES);

	if (wanted > slabs->most)
		return missing * UNWIND_SLAB_PAGES;
	while (missing < wanted && !slabs->is_refused) {
		if (add_slabs(slabs, missing, choose_end(slabs, missing, wanted))) {
			log_warn("%s: unwind tables stay at %u MB", error_sentence(),
				 slabs->n);
			error_clear();
			slabs->is_refused = true;
		}
		missing = find_missing(slabs, missing);
	}
	return missing * UNWIND_SLAB_PAGES;
}

/* Some at a time, of one slab: that is half the cost of a call for each. */
static int write_batch(const struct page_slabs *slabs, uint32_t first,
		       const union unwind_page *pages, uint32_t n)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[BATCH_PAGES];

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (first + i) % UNWIND_SLAB_PAGES;
	return bpf_map_update_batch(slabs->fds[first / UNWIND_SLAB_PAGES], keys, pages,
				    &n, &options)
		       ? fail_errno(-errno, "cannot write page %u of the unwind tables",
				    first)
		       : 0;
}

int page_slabs_write(const struct page_slabs *slabs, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	uint32_t some;
	int err = 0;

	for (; !err && n; first += some, pages += some, n -= some) {
		some = least(UNWIND_SLAB_PAGES - first % UNWIND_SLAB_PAGES, BATCH_PAGES);
		some = least(some, n);
		err = write_batch(slabs, first, pages, some);
	}
	return err;
}

uint32_t page_slabs_pages(const struct page_slabs *slabs)
{
	return slabs->most * UNWIND_SLAB_PAGES;
}

uint64_t page_slabs_bytes(const struct page_slabs *slabs)
{
	return slabs->n * slabs->slab_bytes;
}
