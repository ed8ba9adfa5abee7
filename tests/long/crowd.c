// SPDX-License-Identifier: BSD-2-Clause
/*
 * crowd LIVE RATE PROGRAM [CGROUP]   as many processes as a busy host has
 *
 * LIVE of them live as long as this one and do a little each second; RATE a second
 * run PROGRAM and end. Those of a tenth of a second have a cgroup of their own below
 * CGROUP, a folder of version 2, which is removed once they are gone. Runs until SIGTERM,
 * and then says how many there were.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURNS	    10 /* a second */
#define TURN_NS	    (1000000000 / TURNS)
#define GROUPS_KEPT 8
#define SPIN	    20000

extern char **environ;
static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

__attribute__((noinline)) static void live_a_little(void)
{
	for (volatile int i = 0; i < SPIN; i++)
		;
}

static void live(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (;;) {
		live_a_little();
		sleep(1);
	}
}

static void write_to(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* This process goes into a new cgroup, and an old one is removed. */
static void change_cgroup(const char *above, long turn)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/crowd-%ld", above, turn);
	if (mkdir(path, 0755)) {
		perror(path);
		exit(1);
	}
	write_to(path, "cgroup.procs", "0");
	snprintf(path, sizeof(path), "%s/crowd-%ld", above, turn - GROUPS_KEPT);
	rmdir(path); /* it was never made, or who is in it is late */
}

static long run_some(char *program, int some)
{
	char *argv[] = { program, NULL };
	long begun = 0;
	pid_t pid;

	for (int i = 0; i < some; i++)
		begun += !posix_spawn(&pid, program, NULL, NULL, argv, environ);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return begun;
}

int main(int argc, char **argv)
{
	int n_live = argc > 3 ? atoi(argv[1]) : 0, rate = argc > 3 ? atoi(argv[2]) : 0;
	const char *above = argc > 4 ? argv[4] : NULL;
	struct timespec next;
	long begun = 0, turn = 0;
	pid_t us = getpid();

	if (rate < TURNS)
		return 2;
	signal(SIGTERM, end);
	for (int i = 0; i < n_live; i++)
		if (!fork())
			live(us);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (; !is_over; turn++) {
		if (above)
			change_cgroup(above, turn);
		begun += run_some(argv[3], rate / TURNS);
		next.tv_nsec += TURN_NS;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		/* at once, where the host is too slow: what is missing is made up for */
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	if (above)
		write_to(above, "cgroup.procs", "0");
	for (long i = turn - GROUPS_KEPT - 1; above && i < turn; i++) {
		char path[128];

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		snprintf(path, sizeof(path), "%s/crowd-%ld", above, i);
		rmdir(path);
	}
	printf("%ld programs in %ld turns of %.1f s\n", begun, turn, 1.0 / TURNS);
	return 0;
}
