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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_change_is_counted, forget),
		cmocka_unit_test_setup(what_was_refused_is_told, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
