/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of unwind tables lie in maps that are made as they are needed: each page where
 * its number says, the maps where ticks look for them, and no more than there may be.
 */
#include "kern/page_slabs.h"

#include "base/error.h"
#include "base/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define OUTER	  1000
#define SLABS_MAX 26
#define FIRST	  11 /* that are made before they are set */
#define MORE	  8  /* and then so many more */
#define LOTS	  (SLABS_MAX * UNWIND_SLAB_PAGES)

/* The kernel: the maps that were made, and what lies in the map of them. */
static struct {
	int made[SLABS_MAX], outer[SLABS_MAX];
	uint32_t n_made, n_waits, n_told;
	union unwind_page pages[SLABS_MAX][UNWIND_SLAB_PAGES];
	int create_err, set_err, write_err;
	bool has_batch;
} kernel;

/* In libbpf's place. */
int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_bytes,
		   __u32 value_bytes, __u32 n, const struct bpf_map_create_opts *opts)
{
	int fd;

	assert_int_equal(type, BPF_MAP_TYPE_ARRAY);
	assert_int_equal(key_bytes, 4);
	assert_int_equal(value_bytes, UNWIND_PAGE_BYTES);
	assert_int_equal(n, UNWIND_SLAB_PAGES);
	errno = kernel.create_err;
	if (kernel.create_err)
		return -kernel.create_err;
	assert_true(kernel.n_made < SLABS_MAX);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	kernel.made[kernel.n_made++] = fd;
	return fd;
}

static int set(uint32_t key, int fd)
{
	errno = kernel.set_err;
	if (kernel.set_err)
		return -kernel.set_err;
	assert_true(key < SLABS_MAX);
	kernel.outer[key] = fd;
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, OUTER);
	kernel.n_waits++;
	return set(*(const uint32_t *)key, *(const int *)value);
}

static int set_batch(const uint32_t *keys, const int *fds, uint32_t n)
{
	int err = 0;

	if (!kernel.has_batch) {
		errno = ENOTSUP;
		return -ENOTSUP;
	}
	kernel.n_waits++;
	for (uint32_t i = 0; !err && i < n; i++)
		err = set(keys[i], fds[i]);
	return err;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *n,
			 const struct bpf_map_batch_opts *opts)
{
	const union unwind_page *pages = values;
	const uint32_t *numbers = keys;
	uint32_t slab = 0;

	if (fd == OUTER)
		return set_batch(keys, values, *n);
	while (slab < kernel.n_made && kernel.made[slab] != fd)
		slab++;
	assert_true(slab < kernel.n_made);
	errno = kernel.write_err;
	if (kernel.write_err)
		return -kernel.write_err;
	for (uint32_t i = 0; i < *n; i++) {
		assert_true(numbers[i] < UNWIND_SLAB_PAGES);
		kernel.pages[slab][numbers[i]] = pages[i];
	}
	return 0;
}

static void count_warning(enum log_kind kind, const char *line)
{
	kernel.n_told++;
}

static int forget(void **state)
{
	memset(&kernel, 0, sizeof(kernel));
	for (int i = 0; i < SLABS_MAX; i++)
		kernel.outer[i] = -1;
	kernel.has_batch = true;
	log_set_sink(count_warning);
	return 0;
}

static struct page_slabs *begin(uint32_t most)
{
	struct page_slabs *slabs;

	assert_int_equal(page_slabs_new(&slabs, most, false), 0);
	assert_int_equal(page_slabs_pages(slabs), most * UNWIND_SLAB_PAGES);
	assert_int_equal(page_slabs_model(slabs), kernel.made[0]);
	assert_int_equal(kernel.n_made, 1);
	if (most > 1)
		assert_int_equal(
			page_slabs_reach(slabs, 0, FIRST * UNWIND_SLAB_PAGES - 7),
			FIRST * UNWIND_SLAB_PAGES);
	assert_int_equal(kernel.n_waits, 0);
	assert_int_equal(page_slabs_begin(slabs, OUTER), 0);
	return slabs;
}

static void assert_set(uint32_t n)
{
	assert_int_equal(kernel.n_made, n);
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		assert_int_equal(kernel.outer[i], i < n ? kernel.made[i] : -1);
}

static void they_come_as_they_are_needed(void **state)
{
	struct page_slabs *slabs = begin(SLABS_MAX);

	assert_set(FIRST);
	assert_int_equal(kernel.n_waits, 1);
	assert_int_equal(page_slabs_begin(slabs, OUTER), 0);
	assert_int_equal(kernel.n_waits, 1);
	assert_int_equal(page_slabs_reach(slabs, 0, 1), FIRST * UNWIND_SLAB_PAGES);
	assert_int_equal(page_slabs_reach(slabs, 0, FIRST * UNWIND_SLAB_PAGES),
			 FIRST * UNWIND_SLAB_PAGES);
	assert_set(FIRST);
	assert_int_equal(page_slabs_reach(slabs, 0, FIRST * UNWIND_SLAB_PAGES + 1),
			 (FIRST + MORE) * UNWIND_SLAB_PAGES);
	assert_set(FIRST + MORE);
	assert_int_equal(kernel.n_waits, 2);
	assert_int_equal(page_slabs_reach(slabs, 0, LOTS), LOTS);
	assert_set(SLABS_MAX);
	assert_int_equal(page_slabs_reach(slabs, 0, UINT32_MAX / 2), LOTS);
	assert_set(SLABS_MAX);
	page_slabs_free(slabs);
}

/* Pages that nobody needs have no slab, wherever others lie. */
static void between_them_are_none(void **state)
{
	enum { AT = 4, PAGES = UNWIND_SLAB_PAGES };
	struct page_slabs *slabs;

	assert_int_equal(page_slabs_new(&slabs, SLABS_MAX, false), 0);
	assert_int_equal(page_slabs_reach(slabs, AT * PAGES + 1, AT * PAGES + 9),
			 (AT + 1) * PAGES);
	assert_int_equal(page_slabs_reach(slabs, 1, 2), PAGES);
	assert_int_equal(kernel.n_made, 2);
	assert_int_equal(page_slabs_begin(slabs, OUTER), 0);
	assert_int_equal(kernel.n_waits, 1);
	for (int i = 0; i < SLABS_MAX; i++)
		assert_int_equal(kernel.outer[i], i == 0    ? kernel.made[0]
						  : i == AT ? kernel.made[1]
							    : -1);
	/* up to the next one, and then behind it */
	assert_int_equal(page_slabs_reach(slabs, 1, PAGES + 1), (AT + 1) * PAGES);
	assert_int_equal(kernel.n_made, AT + 1);
	assert_int_equal(page_slabs_reach(slabs, 1, (AT + 2) * PAGES),
			 (AT + 1 + MORE) * PAGES);
	assert_int_equal(kernel.n_waits, 3);
	for (int i = 0; i < AT + 1 + MORE; i++)
		assert_true(kernel.outer[i] >= 0);
	page_slabs_free(slabs);
}

static void a_budget_leaves_one(void **state)
{
	struct page_slabs *slabs = begin(1);

	assert_set(1);
	assert_int_equal(page_slabs_reach(slabs, 0, UNWIND_SLAB_PAGES),
			 UNWIND_SLAB_PAGES);
	assert_int_equal(page_slabs_reach(slabs, 0, UNWIND_SLAB_PAGES + 1),
			 UNWIND_SLAB_PAGES);
	assert_set(1);
	page_slabs_free(slabs);
}

/* Linux before 5.17 */
static void without_batches_each_is_set(void **state)
{
	struct page_slabs *slabs;

	kernel.has_batch = false;
	slabs = begin(SLABS_MAX);
	assert_set(FIRST);
	assert_int_equal(kernel.n_waits, FIRST);
	assert_int_equal(page_slabs_reach(slabs, 0, LOTS), LOTS);
	assert_set(SLABS_MAX);
	page_slabs_free(slabs);
}

static void is_closed(int fd)
{
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void what_is_refused_is_told_once(void **state)
{
	struct page_slabs *slabs = begin(SLABS_MAX);
	uint32_t have = FIRST * UNWIND_SLAB_PAGES;

	kernel.create_err = ENOMEM;
	assert_int_equal(page_slabs_reach(slabs, 0, have + 1), have);
	assert_int_equal(kernel.n_told, 1);
	kernel.create_err = 0;
	assert_int_equal(page_slabs_reach(slabs, 0, have + 1), have);
	assert_int_equal(kernel.n_told, 1);
	assert_set(FIRST);
	page_slabs_free(slabs);
	for (uint32_t i = 0; i < FIRST; i++)
		is_closed(kernel.made[i]);
}

static void what_cant_be_set_is_nobodys(void **state)
{
	struct page_slabs *slabs = begin(SLABS_MAX);
	uint32_t have = FIRST * UNWIND_SLAB_PAGES;

	kernel.set_err = E2BIG;
	assert_int_equal(page_slabs_reach(slabs, 0, have + 1), have);
	assert_int_equal(kernel.n_told, 1);
	assert_int_equal(kernel.n_made, FIRST + MORE);
	is_closed(kernel.made[FIRST]);
	is_closed(kernel.made[FIRST + MORE - 1]);
	page_slabs_free(slabs);
}

static void without_memory_there_are_none(void **state)
{
	struct page_slabs *slabs = NULL;

	kernel.create_err = ENOMEM;
	assert_int_equal(page_slabs_new(&slabs, SLABS_MAX, false), -ENOMEM);
	assert_null(slabs);
	error_clear();
}

#define N_WRITTEN 200

static union unwind_page written[N_WRITTEN];

static const union unwind_page *kernel_page(uint32_t n)
{
	return &kernel.pages[n / UNWIND_SLAB_PAGES][n % UNWIND_SLAB_PAGES];
}

static void pages_go_where_they_belong(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 63, 64, 65, 128, 150, N_WRITTEN };
	static const uint32_t places[] = { 7, UNWIND_SLAB_PAGES - 3,
					   2 * UNWIND_SLAB_PAGES - 64,
					   3 * UNWIND_SLAB_PAGES };
	struct page_slabs *slabs = begin(SLABS_MAX);

	for (uint32_t i = 0; i < N_WRITTEN; i++)
		memset(&written[i], (int)i + 1, sizeof(written[i]));
	for (size_t i = 0; i < 4 * sizeof(numbers) / sizeof(*numbers); i++) {
		uint32_t first = places[i % 4], n = numbers[i / 4];

		memset(kernel.pages, 0, sizeof(kernel.pages));
		assert_int_equal(page_slabs_write(slabs, first, written, n), 0);
		for (uint32_t k = 0; k < n; k++)
			assert_memory_equal(kernel_page(first + k), &written[k],
					    sizeof(*written));
		assert_int_equal(kernel_page(first - 1)->bytes[0], 0);
		assert_int_equal(kernel_page(first + n)->bytes[0], 0);
	}
	kernel.write_err = EPERM;
	assert_int_equal(page_slabs_write(slabs, 7, written, 150), -EPERM);
	error_clear();
	page_slabs_free(slabs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(they_come_as_they_are_needed, forget),
		cmocka_unit_test_setup(between_them_are_none, forget),
		cmocka_unit_test_setup(a_budget_leaves_one, forget),
		cmocka_unit_test_setup(without_batches_each_is_set, forget),
		cmocka_unit_test_setup(what_is_refused_is_told_once, forget),
		cmocka_unit_test_setup(what_cant_be_set_is_nobodys, forget),
		cmocka_unit_test_setup(without_memory_there_are_none, forget),
		cmocka_unit_test_setup(pages_go_where_they_belong, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
