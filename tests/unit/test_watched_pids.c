/* SPDX-License-Identifier: BSD-2-Clause */
/* Who was asked for by number, and when all of them have ended. */
#include "record/watched_pids.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "child.h"

#define PID_TRIES 5
#define ROUNDS	  50

/* A child with this very pid, which is nobody's; 0: somebody was quicker. */
static pid_t new_child_as(pid_t pid)
{
	for (int i = 0; i < PID_TRIES; i++) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
		pid_t child;

		assert_non_null(f);
		fprintf(f, "%d", pid - 1);
		assert_int_equal(fclose(f), 0);
		child = new_child();
		if (child == pid)
			return child;
		end_child(child);
	}
	return 0;
}

static void note(struct watched_pids *watched, pid_t first, pid_t second)
{
	const struct pid_list list = { .pids = { first, second }, .n = second ? 2 : 1 };
	const struct pid_list none = { .n = 0 };

	watched_pids_begin(watched, NULL, &list, &none);
}

static void nobody_was_asked_for(void **state)
{
	static struct watched_pids watched;

	assert_false(watched_pids_have_ended(&watched));
}

static void it_is_over_with_the_last(void **state)
{
	static struct watched_pids watched;
	pid_t first = new_child(), second = new_child();
	char text[64], want[64];

	note(&watched, first, second);
	assert_false(watched_pids_have_ended(&watched));
	end_child(first);
	assert_false(watched_pids_have_ended(&watched));
	end_child(second);
	assert_true(watched_pids_have_ended(&watched));
	assert_string_equal(watched_pids_end_text(&watched, text, sizeof(text)),
			    "all 2 processes have ended");

	note(&watched, first, 0); /* gone before we came */
	assert_true(watched_pids_have_ended(&watched));
	snprintf(want, sizeof(want), "process %d has ended", first);
	assert_string_equal(watched_pids_end_text(&watched, text, sizeof(text)), want);
}

/* An end, and a start with the same pid; how often it came to that. */
static unsigned int try_another(struct watched_pids *watched)
{
	pid_t first = new_child(), next;

	note(watched, first, 0);
	end_child(first);
	usleep(30000); /* /proc tells starts apart by 10 ms */
	next = new_child_as(first);
	if (!next)
		return 0;
	assert_true(watched_pids_have_ended(watched));
	note(watched, next, 0);
	assert_false(watched_pids_have_ended(watched));
	end_child(next);
	return 1;
}

static void whoever_has_its_pid_next_is_another(void **state)
{
	static struct watched_pids watched;
	unsigned int came = 0;

	if (access("/proc/sys/kernel/ns_last_pid", W_OK)) {
		print_message("# no pid can be chosen here\n");
		return;
	}
	for (int i = 0; i < ROUNDS && !came; i++)
		came = try_another(&watched);
	assert_true(came);
}

static void it_lives_though_no_file_can_be_opened(void **state)
{
	static struct watched_pids watched;
	struct rlimit few;
	struct rlimit before;
	pid_t child = new_child();

	note(&watched, child, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_false(watched_pids_have_ended(&watched));
	end_child(child);
	assert_true(watched_pids_have_ended(&watched));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_was_asked_for),
		cmocka_unit_test(it_is_over_with_the_last),
		cmocka_unit_test(whoever_has_its_pid_next_is_another),
		cmocka_unit_test(it_lives_though_no_file_can_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
