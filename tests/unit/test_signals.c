/* SPDX-License-Identifier: BSD-2-Clause */
/* Which signals end a recording that has been stopped, and what is said then. */
#include "base/signals.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define LAST_WORDS "the rest is lost\n"
#define LIVED	   7 /* an exit status */

static struct timespec now = { .tv_sec = 1000 };

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = now;
	return 0;
}

/* What a process that was stopped by SIGINT does at another signal so much later. */
struct second {
	int number;
	long after_ms;
	const char *words;
};

static void be_stopped_twice(const struct second *second)
{
	struct signals signals;

	if (signals_take(&signals) || raise(SIGINT) ||
	    signals_read(&signals) != SIGNALS_STOP)
		_exit(1);
	signals_let_go(second->words);
	now.tv_sec += second->after_ms / 1000;
	now.tv_nsec += second->after_ms % 1000 * ONE_MS_NS;
	raise(second->number);
	_exit(LIVED);
}

/* Its wait status, and what it said. */
static int status_of(const struct second *second, char said[sizeof(LAST_WORDS)])
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		be_stopped_twice(second);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = read(ends[0], said, sizeof(LAST_WORDS) - 1);
	assert_true(n >= 0);
	said[n] = 0;
	close(ends[0]);
	return status;
}

static void one_that_comes_twice_is_one(void **state)
{
	static const struct second seconds[] = {
		{ SIGINT, 0, LAST_WORDS },
		{ SIGTERM, 100, LAST_WORDS },
		{ SIGINT, 999, LAST_WORDS },
	};
	char said[sizeof(LAST_WORDS)];

	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		int status = status_of(&seconds[i], said);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), LIVED);
		assert_string_equal(said, "");
	}
}

static void another_ends_it_and_says_so(void **state)
{
	static const struct second seconds[] = {
		{ SIGINT, 1000, LAST_WORDS },
		{ SIGTERM, 60000, LAST_WORDS },
	};
	char said[sizeof(LAST_WORDS)];

	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		int status = status_of(&seconds[i], said);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), seconds[i].number);
		assert_string_equal(said, LAST_WORDS);
	}
}

/* A report does not wait for a first one. */
static void who_was_not_stopped_ends_at_the_first(void **state)
{
	const struct second second = { SIGINT, 0, NULL };
	char said[sizeof(LAST_WORDS)];
	int status = status_of(&second, said);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_comes_twice_is_one),
		cmocka_unit_test(another_ends_it_and_says_so),
		cmocka_unit_test(who_was_not_stopped_ends_at_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
