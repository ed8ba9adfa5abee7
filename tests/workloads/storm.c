/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that come and go.
 *
 *	storm fork MS    children of fork() that burn, then end; the parent burns
 *	                 a third of what they do
 *	storm exec MS    children that become another program at once: "brief"; the
 *	                 parent burns as long as one of those lives
 *	storm brief MS   one of those: lives for MS, then ends by itself
 *	storm chain MS   exec in place, over and over, each life as long as brief's
 */
#include "work.h"

#define BRIEF_MS "5"

FN void child_work(void)
{
	spin(36000);
}

FN void parent_work(void)
{
	spin(12000);
}

FN void brief_work(void)
{
	spin(2400);
}

FN void wait_child(void)
{
	sys_call(SYS_wait4, -1, 0, 0, 0, 0);
	AFTER();
}

FN long raw_fork(void)
{
	long pid = sys_call(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	AFTER();
	return pid;
}

FN void fork_loop(void)
{
	for (;;) {
		if (!raw_fork()) {
			child_work();
			work_exit(0);
		}
		wait_child();
		parent_work();
	}
}

FN void become(const char *program, const char *a, const char *b, const char *c)
{
	const char *argv[] = { program, a, b, c, NULL };

	sys_call(SYS_execve, (long)"/proc/self/exe", (long)argv, (long)environ, 0, 0);
	work_exit(2);
}

FN void brief_life(long ms)
{
	unsigned long long end = work_now_ns() + ms * 1000000ULL;

	while (work_now_ns() < end)
		brief_work();
	AFTER();
}

FN void parent_life(long ms)
{
	unsigned long long end = work_now_ns() + ms * 1000000ULL;

	while (work_now_ns() < end)
		parent_work();
	AFTER();
}

FN void exec_loop(void)
{
	for (;;) {
		if (!raw_fork())
			become("brief", "brief", BRIEF_MS, NULL);
		wait_child();
		parent_life(atol(BRIEF_MS));
	}
}

FN void next_life(const char *left)
{
	char again[24];
	long n = atol(left) - atol(BRIEF_MS);

	snprintf(again, sizeof(again), "%ld", n);
	if (n > 0)
		become("storm", "chain", again, NULL);
	AFTER();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	if (!strcmp(mode, "brief")) {
		brief_life(atol(argv[2]));
		return 0;
	}
	if (!strcmp(mode, "chain")) {
		brief_life(atol(BRIEF_MS));
		next_life(argv[2]);
		return 0;
	}
	if (argc > 2)
		work_lifetime(argv[2]);
	work_ready();
	if (!strcmp(mode, "fork"))
		fork_loop();
	else if (!strcmp(mode, "exec"))
		exec_loop();
	return work_usage(argv[0], "fork MS | exec MS | brief MS | chain MS");
}
