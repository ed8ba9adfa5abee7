// SPDX-License-Identifier: BSD-2-Clause
/* Who a process is, as /proc says it: of one that runs, and of one that has ended and
 * was not reaped, whose stack is as little to be seen as that of one that hides it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "proc/scan.h"

static void who_runs_has_a_stack(void **state)
{
	uint64_t start_ticks, start_stack;

	assert_int_equal(scan_identity(getpid(), &start_ticks, &start_stack), 0);
	assert_true(start_ticks && start_stack > 1);
}

static void who_was_not_reaped_is_gone(void **state)
{
	uint64_t start_ticks, start_stack;
	siginfo_t info;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(scan_identity(child, &start_ticks, &start_stack), -ESRCH);
	error_clear();
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(scan_identity(child, &start_ticks, &start_stack), -ESRCH);
	error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_runs_has_a_stack),
		cmocka_unit_test(who_was_not_reaped_is_gone),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
