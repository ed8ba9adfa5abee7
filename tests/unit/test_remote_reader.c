/* SPDX-License-Identifier: BSD-2-Clause */
/* Who reads others' memory for us leaves nothing behind, however long its end takes. */
#include "worker/remote_reader.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static uint32_t words[] = { 17, 4 };

static bool reads(struct remote_reader *reader)
{
	const uint64_t addrs[] = { (uintptr_t)&words[0], 8, (uintptr_t)&words[1] };
	uint32_t got[] = { 1, 2, 3 };

	if (!remote_reader_read(reader, getpid(), addrs, 3, got))
		return false;
	assert_int_equal(got[0], 17);
	assert_int_equal(got[1], 2); /* nothing is there */
	assert_int_equal(got[2], 4);
	return true;
}

/* A child of ours that takes as long as we want. */
static pid_t new_child(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	while (!child)
		pause();
	return child;
}

/* It is not asked for its status. */
static void end_child(pid_t child)
{
	siginfo_t info;

	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void expect_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static void who_ended_later_is_reaped(void **state)
{
	struct remote_reader reader = { .n_left = 2,
					.left = { new_child(), new_child() } };

	assert_true(reads(&reader));
	assert_true(reader.n_left >= 2);
	end_child(reader.left[0]);
	assert_true(reads(&reader));
	end_child(reader.left[0]);
	while (reader.n_left) /* on a busy machine those of the reads, too */
		reads(&reader);
	expect_no_children();
}

static void of_too_many_none_is_added(void **state)
{
	struct remote_reader reader = { .n_left = REMOTE_READER_LEFT_MAX };

	for (int i = 0; i < REMOTE_READER_LEFT_MAX; i++)
		reader.left[i] = new_child();
	assert_false(reads(&reader));
	for (int i = 0; i < REMOTE_READER_LEFT_MAX; i++)
		end_child(reader.left[i]);
	assert_true(reads(&reader));
	while (reader.n_left)
		reads(&reader);
	expect_no_children();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ended_later_is_reaped),
		cmocka_unit_test(of_too_many_none_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
