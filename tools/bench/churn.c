/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a profiler spends on programs that start and end.
 *
 *	churn PID RATE PROGRAMS COMMAND [ARGUMENT...]
 *
 * Does nothing for as long as the programs will take, then runs the command so many
 * times, RATE a second. Says how many ns of CPU time PID and its descendants took for
 * each, beyond what they took while nothing was done.
 */
#include "procs.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

#define SECOND_NS 1000000000ULL

struct load {
	uint64_t gap_ns;
	unsigned int programs;
	char **command;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = { (time_t)(ns / SECOND_NS),
					(long)(ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		continue;
}

static bool run_one(char **command)
{
	pid_t pid;
	int status, err = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);

	if (err) {
		fprintf(stderr, "churn: %s: %s\n", command[0], strerror(err));
		return false;
	}
	return waitpid(pid, &status, 0) == pid;
}

static bool run_all(const struct load *load)
{
	uint64_t next = now_ns();

	for (unsigned int i = 0; i < load->programs; i++) {
		if (!run_one(load->command))
			return false;
		next += load->gap_ns;
		sleep_until(next);
	}
	return true;
}

/* What the profiler has taken so far. */
static double taken_ns(struct procs *procs, pid_t pid)
{
	procs_look(procs, pid);
	return (double)procs_cpu_ns(procs);
}

static bool measure(pid_t pid, const struct load *load)
{
	struct procs procs = { .n = 0 };
	uint64_t begun = now_ns(), loaded, ended;
	double at_first = taken_ns(&procs, pid), idle, busy;

	sleep_until(begun + load->gap_ns * load->programs);
	loaded = now_ns();
	idle = taken_ns(&procs, pid) - at_first;
	if (!run_all(load))
		return false;
	ended = now_ns();
	busy = taken_ns(&procs, pid) - at_first - idle;
	idle *= (double)(ended - loaded) / (double)(loaded - begun);
	printf("%.0f\n", (busy - idle) / load->programs);
	return true;
}

int main(int argc, char **argv)
{
	struct load load;
	int rate = argc > 4 ? atoi(argv[2]) : 0, programs = argc > 4 ? atoi(argv[3]) : 0;

	if (rate <= 0 || programs <= 0) {
		fprintf(stderr, "usage: churn PID RATE PROGRAMS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	load = (struct load){ SECOND_NS / (uint64_t)rate, (unsigned int)programs,
			      argv + 4 };
	return measure((pid_t)atoi(argv[1]), &load) ? 0 : 1;
}
