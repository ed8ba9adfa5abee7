/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages that ticks read: nobody gets what another has, nor what was given back a moment
 * ago, and number 0 is nobody's.
 */
#include "base/vec.h"

#include "publish_outside.h"

#define SMALL 16

struct run {
	uint32_t first, n;
};

static struct page_allocator *new_heap(uint32_t n_pages)
{
	const struct publish_maps maps = { .n_pages = n_pages };
	struct page_allocator *allocator;

	assert_int_equal(page_allocator_new(&allocator, &maps, &world_outside), 0);
	return allocator;
}

static void what_is_too_large_is_refused(void **state)
{
	struct page_allocator *allocator = new_heap(SMALL);

	assert_int_equal(page_allocator_alloc(allocator, 0, 0), 0);
	assert_int_equal(page_allocator_alloc(allocator, SMALL, 0), 0);
	assert_int_equal(page_allocator_alloc(allocator, UINT32_MAX, 0), 0);
	assert_int_equal(page_allocator_alloc(allocator, SMALL - 1, 0), 1);
	assert_int_equal(page_allocator_used(allocator), SMALL - 1);
	assert_int_equal(page_allocator_alloc(allocator, 1, UINT64_MAX - 1), 0);
	page_allocator_free(allocator);
	allocator = new_heap(0);
	assert_int_equal(page_allocator_alloc(allocator, 1, 0), 0);
	page_allocator_free(allocator);
}

static void what_is_given_back_rests(void **state)
{
	struct page_allocator *allocator = new_heap(SMALL);
	uint64_t now = 5000 * MS;

	assert_int_equal(page_allocator_alloc(allocator, SMALL - 1, now), 1);
	page_allocator_release(allocator, 4, 3, now);
	assert_int_equal(page_allocator_used(allocator), SMALL - 4);
	assert_int_equal(page_allocator_alloc(allocator, 3, now + PAGE_QUARANTINE_NS - 1),
			 0);
	assert_int_equal(page_allocator_alloc(allocator, 4, now + PAGE_QUARANTINE_NS), 0);
	assert_int_equal(page_allocator_alloc(allocator, 3, now + PAGE_QUARANTINE_NS), 4);
	page_allocator_free(allocator);
}

/* A space's first page says that it was given up: the longer nobody writes over it
 * the better. */
static void the_last_one_given_is_the_last_taken(void **state)
{
	struct page_allocator *allocator = new_heap(SMALL);

	assert_int_equal(page_allocator_alloc(allocator, 2, 0), 1);
	page_allocator_release(allocator, 1, 2, 0);
	for (uint32_t at = 3; at < SMALL - 1; at += 2)
		assert_int_equal(
			page_allocator_alloc(allocator, 2, 2 * PAGE_QUARANTINE_NS), at);
	assert_int_equal(page_allocator_alloc(allocator, 2, 2 * PAGE_QUARANTINE_NS), 1);
	page_allocator_free(allocator);
}

static void writes_reach_the_kernel(void **state)
{
	const union unwind_page pages[2] = { { .bytes = "one" }, { .bytes = "two" } };
	struct page_allocator *allocator = new_heap(SMALL);

	world_reset();
	assert_int_equal(page_allocator_write(allocator, 3, pages, 2), 0);
	assert_string_equal(world.pages[3].bytes, "one");
	assert_string_equal(world.pages[4].bytes, "two");
	world.write_err = -EIO;
	assert_int_equal(page_allocator_write(allocator, 3, pages, 2), -EIO);
	world_close();
	page_allocator_free(allocator);
}

static void give_one(struct page_allocator *allocator, struct run *runs, size_t *n,
		     uint64_t now, uint64_t *rest_until, uint64_t *random)
{
	size_t at = next_random(random) % *n;
	struct run run = runs[at];

	page_allocator_release(allocator, run.first, run.n, now);
	for (uint32_t i = 0; i < run.n; i++)
		rest_until[run.first + i] = now + PAGE_QUARANTINE_NS;
	runs[at] = runs[--*n];
}

/* No table takes the last room for what processes map; that may lie anywhere. */
static void some_are_reserved(void **state)
{
	struct page_allocator *allocator = new_heap(128);

	assert_int_equal(page_allocator_alloc(allocator, 120, 0), 0);
	assert_int_equal(page_allocator_alloc(allocator, 119, 0), 9);
	assert_int_equal(page_allocator_alloc(allocator, 1, 0), 0);
	assert_int_equal(heap_take_reserved(allocator, 8, 0), 1);
	assert_int_equal(heap_take_reserved(allocator, 1, 0), 0);
	page_allocator_release(allocator, 50, 2, 0);
	assert_int_equal(heap_take_reserved(allocator, 1, PAGE_QUARANTINE_NS), 50);
	page_allocator_free(allocator);
}

/* ---- a kernel that has some of the pages, and gets others ---- */

static uint32_t there, asked, most;

static uint32_t some_reach(const struct publish_maps *maps, uint32_t from, uint32_t to)
{
	asked = to;
	if (there < to && to <= most)
		there = to + 5 < most ? to + 5 : most;
	return there;
}

static struct page_allocator *new_growing(uint32_t n_pages, uint32_t n_there)
{
	static struct outside outside;
	const struct publish_maps maps = { .n_pages = n_pages };
	struct page_allocator *allocator;

	outside = world_outside;
	outside.reach = some_reach;
	there = n_there;
	most = n_pages;
	assert_int_equal(page_allocator_new(&allocator, &maps, &outside), 0);
	return allocator;
}

/* First what is there, and free again; only then there are more. */
static void the_kernel_gets_no_more_than_are_used(void **state)
{
	struct page_allocator *allocator = new_growing(128, 20);
	uint64_t now = 10 * PAGE_QUARANTINE_NS;

	assert_int_equal(asked, 1);
	assert_int_equal(page_allocator_alloc(allocator, 11, now), 9); /* the last one */
	assert_int_equal(asked, 1);
	page_allocator_release(allocator, 9, 11, 0);
	assert_int_equal(page_allocator_alloc(allocator, 8, now), 9);
	assert_int_equal(asked, 1);
	assert_int_equal(page_allocator_alloc(allocator, 4, now), 17);
	assert_int_equal(asked, 24);
	assert_int_equal(there, 29);
	assert_int_equal(page_allocator_alloc(allocator, 8, now), 21);
	assert_int_equal(asked, 24);
	assert_int_equal(page_allocator_alloc(allocator, 99, now), 29);
	assert_int_equal(asked, 128);
	assert_int_equal(page_allocator_alloc(allocator, 1, now), 0);
	page_allocator_free(allocator);
}

static void what_the_kernel_has_not_is_nobodys(void **state)
{
	struct page_allocator *allocator = new_growing(256, 10);

	most = 0;						    /* it gets no more */
	assert_int_equal(page_allocator_alloc(allocator, 1, 0), 0); /* 17 and on */
	assert_int_equal(heap_take_reserved(allocator, 9, 0), 1);
	assert_int_equal(heap_take_reserved(allocator, 1, 0), 0);
	most = 256;
	assert_int_equal(page_allocator_alloc(allocator, 7, 0), 17);
	assert_int_equal(heap_take_reserved(allocator, 7, 0), 10);
	page_allocator_free(allocator);
}

static uint32_t end_of_reserved, end_of_rest;

static uint32_t reach_apart(const struct publish_maps *maps, uint32_t from, uint32_t to)
{
	uint32_t *end = from == 1 ? &end_of_reserved : &end_of_rest;

	assert_true(from == 1 || from == 17);
	*end = to > *end ? to : *end;
	return *end;
}

/* What is reserved is not made for others, nor the other way round. */
static void each_part_has_pages_of_its_own(void **state)
{
	static struct outside outside;
	const struct publish_maps maps = { .n_pages = 256 };
	struct page_allocator *allocator;

	outside = world_outside;
	outside.reach = reach_apart;
	assert_int_equal(page_allocator_new(&allocator, &maps, &outside), 0);
	assert_int_equal(page_allocator_alloc(allocator, 40, 0), 17);
	assert_int_equal(end_of_rest, 57);
	assert_int_equal(end_of_reserved, 1);
	assert_int_equal(heap_take_reserved(allocator, 3, 0), 1);
	assert_int_equal(heap_take_reserved(allocator, 12, 0), 4);
	assert_int_equal(end_of_reserved, 16);
	assert_int_equal(heap_take_reserved(allocator, 2, 0), 57);
	assert_int_equal(end_of_rest, 59);
	page_allocator_free(allocator);
}

/* Against a list of what everybody has. */
static void nobody_shares(void **state)
{
	enum { N = 64 };
	uint64_t random = 88172645463325252ULL, now = 0, rest_until[N] = { 0 };
	struct page_allocator *allocator = new_heap(N);
	bool taken[N] = { true };
	struct run runs[N];
	uint32_t used = 0;
	size_t n = 0;

	for (int i = 0; i < 200000; i++) {
		struct run run = { .n = 1 + (uint32_t)(next_random(&random) % 9) };

		now += next_random(&random) % (PAGE_QUARANTINE_NS / 4);
		if (n && next_random(&random) % 2) {
			give_one(allocator, runs, &n, now, rest_until, &random);
			memset(taken, 0, sizeof(taken));
			taken[0] = true;
			used = 0;
			for (size_t k = 0; k < n; used += runs[k++].n)
				memset(taken + runs[k].first, 1, runs[k].n);
		}
		run.first = page_allocator_alloc(allocator, run.n, now);
		if (run.first) {
			assert_in_range(run.first, 1, N - run.n);
			for (uint32_t k = run.first; k < run.first + run.n; k++) {
				assert_false(taken[k]);
				assert_true(rest_until[k] <= now);
				taken[k] = true;
			}
			runs[n++] = run;
			used += run.n;
		}
		assert_int_equal(page_allocator_used(allocator), used);
	}
	page_allocator_free(allocator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(what_is_given_back_rests),
		cmocka_unit_test(the_last_one_given_is_the_last_taken),
		cmocka_unit_test(writes_reach_the_kernel),
		cmocka_unit_test(some_are_reserved),
		cmocka_unit_test(the_kernel_gets_no_more_than_are_used),
		cmocka_unit_test(what_the_kernel_has_not_is_nobodys),
		cmocka_unit_test(each_part_has_pages_of_its_own),
		cmocka_unit_test(nobody_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
