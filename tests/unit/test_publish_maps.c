/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ticks keep what they know of a process until something is told of it: each change is
 * counted, for that process, and behind the change itself.
 */
#include "kern/publish_maps.h"

#include "base/error.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define PROCESSES 3

static uint32_t counts[PUBLICATIONS], counts_at_change[PUBLICATIONS];
static unsigned int changes;
static int answer;

static const struct publish_maps maps = { .processes = PROCESSES,
					  .pages = 4,
					  .publications = counts };

/* In libbpf's place. */
int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, PROCESSES);
	memcpy(counts_at_change, counts, sizeof(counts));
	changes++;
	errno = answer;
	return answer ? -answer : 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	assert_int_equal(fd, PROCESSES);
	memcpy(counts_at_change, counts, sizeof(counts));
	changes++;
	return 0;
}

#define PAGES	4
#define N_PAGES 200

static union unwind_page kernel_pages[N_PAGES], written[N_PAGES];

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	const union unwind_page *pages = values;
	const uint32_t *numbers = keys;

	assert_int_equal(fd, PAGES);
	for (__u32 i = 0; i < *count; i++) {
		assert_true(numbers[i] < N_PAGES);
		kernel_pages[numbers[i]] = pages[i];
	}
	changes++;
	errno = answer;
	return answer ? -answer : 0;
}

static int forget(void **state)
{
	memset(counts, 0, sizeof(counts));
	changes = 0;
	answer = 0;
	return 0;
}

static void assert_counted_behind(pid_t tgid, uint32_t times)
{
	for (uint32_t i = 0; i < PUBLICATIONS; i++) {
		bool its = i == (uint32_t)tgid % PUBLICATIONS;

		assert_int_equal(counts[i], its ? times : 0);
		assert_int_equal(counts_at_change[i], its ? times - 1 : 0);
	}
	assert_int_equal(changes, times);
}

static void each_change_is_counted(void **state)
{
	const pid_t tgid = 3 * PUBLICATIONS + 7;
	const struct process_info info = { 0 };

	assert_int_equal(publish_maps_put_process(&maps, tgid, &info), 0);
	assert_counted_behind(tgid, 1);
	assert_int_equal(publish_maps_put_process(&maps, tgid, &info), 0);
	assert_counted_behind(tgid, 2);
	publish_maps_remove_process(&maps, tgid);
	assert_counted_behind(tgid, 3);
}

static void what_was_refused_is_told(void **state)
{
	const struct process_info info = { 0 };

	answer = E2BIG;
	assert_int_equal(publish_maps_put_process(&maps, 1, &info), -E2BIG);
	error_clear();
}

static void pages_go_where_they_belong(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 63, 64, 65, 128, 150 };

	for (uint32_t i = 0; i < N_PAGES; i++)
		memset(&written[i], (int)i + 1, sizeof(written[i]));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uint32_t n = numbers[i];

		memset(kernel_pages, 0, sizeof(kernel_pages));
		assert_int_equal(publish_maps_write_pages(&maps, 7, written, n), 0);
		assert_memory_equal(kernel_pages + 7, written, n * sizeof(*written));
		assert_int_equal(kernel_pages[6].bytes[0], 0);
		assert_int_equal(kernel_pages[7 + n].bytes[0], 0);
	}
	answer = EPERM;
	changes = 0;
	assert_int_equal(publish_maps_write_pages(&maps, 7, written, 150), -EPERM);
	assert_int_equal(changes, 1);
	error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_change_is_counted, forget),
		cmocka_unit_test_setup(what_was_refused_is_told, forget),
		cmocka_unit_test_setup(pages_go_where_they_belong, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
