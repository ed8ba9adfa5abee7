/* SPDX-License-Identifier: BSD-2-Clause */
#include "witness.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROFILER   "weft"
#define HELPERS	   "weft-" /* so their names begin */
#define LOOK_EVERY 4	   /* calls: reading costs more than waiting a moment */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* FMT with one %llu, in a file; 0 if it is not there any more */
static unsigned long long read_number(const char *path, const char *fmt)
{
	FILE *file = fopen(path, "re");
	unsigned long long n = 0;

	if (!file)
		return 0;
	if (fscanf(file, fmt, &n) != 1)
		n = 0;
	fclose(file);
	return n;
}

/* While a hypervisor ran somebody else, on all CPUs. */
static uint64_t stolen_ticks(void)
{
	return read_number("/proc/stat", "cpu %*u %*u %*u %*u %*u %*u %*u %llu");
}

/* How much longer than at the last look it has waited in all, while it could run. */
static uint64_t waited_more(struct witness *witness, pid_t pid)
{
	uint64_t waited_ns, before_ns;
	char path[64];
	size_t i = 0;

	while (i < witness->n && witness->tasks[i].pid != pid)
		i++;
	if (i == WITNESS_TASKS_MAX)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	waited_ns = read_number(path, "%*u %llu");
	if (i == witness->n) {
		witness->n++;
		witness->tasks[i].pid = pid;
		witness->tasks[i].waited_ns = 0;
	}
	before_ns = witness->tasks[i].waited_ns;
	if (waited_ns <= before_ns)
		return 0;
	witness->tasks[i].waited_ns = waited_ns;
	return waited_ns - before_ns;
}

static void read_comm(pid_t pid, char ret[32])
{
	char path[64];
	FILE *file;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(ret, 32, file))
		ret[0] = '\0';
	fclose(file);
	ret[strcspn(ret, "\n")] = '\0';
}

/* The program is a child, too; how long that waits excuses nothing. */
static size_t find_helpers(pid_t pid, pid_t ret[WITNESS_TASKS_MAX], bool *ret_program)
{
	char path[64], comm[32];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (n < WITNESS_TASKS_MAX && fscanf(file, "%d", &ret[n]) == 1) {
		read_comm(ret[n], comm);
		if (!strncmp(comm, HELPERS, strlen(HELPERS)))
			n++;
		else if (comm[0] && strcmp(comm, PROFILER))
			*ret_program = true;
	}
	fclose(file);
	return n;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of all of them, who waited longest since the last look. */
static uint64_t longest_wait(struct witness *witness, bool *ret_program)
{
	pid_t helpers[WITNESS_TASKS_MAX], below[WITNESS_TASKS_MAX];
	uint64_t most = waited_more(witness, witness->pid);
	size_t n = find_helpers(witness->pid, helpers, ret_program);
	bool none;

	for (size_t i = 0; i < n; i++) {
		size_t n_below = find_helpers(helpers[i], below, &none);

		most = max_of(most, waited_more(witness, helpers[i]));
		for (size_t k = 0; k < n_below; k++)
			most = max_of(most, waited_more(witness, below[k]));
	}
	return most;
}

void witness_begin(struct witness *ret, pid_t pid)
{
	*ret = (struct witness){ .pid = pid,
				 .looked_ns = now_ns(),
				 .stolen_ticks = stolen_ticks() };
}

void witness_look(struct witness *witness)
{
	uint64_t now = now_ns(), passed = now - witness->looked_ns, stolen, kept;
	bool program = false;

	if (witness->calls++ % LOOK_EVERY)
		return;
	kept = longest_wait(witness, &program) + witness->stopped_ns;
	stolen = stolen_ticks();
	kept += (stolen - witness->stolen_ticks) *
		(1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
	if (kept > passed)
		kept = passed;
	/* it came since the last look */
	if (program && !witness->program_ns)
		witness->program_ns = witness->looked_ns;
	if (witness->program_ns) {
		witness->free_ns += passed - kept;
		witness->waited_ns += kept;
		if (!witness->deadline_ns && witness->free_ns >= WITNESS_WORK_NS)
			witness->deadline_ns = now - witness->program_ns;
	}
	witness->looked_ns = now;
	witness->stopped_ns = 0;
	witness->stolen_ticks = stolen;
}

void witness_stopped(struct witness *witness, uint64_t ns)
{
	witness->stopped_ns += ns;
}

/* A program that ended sooner had not the time; one that lived between two looks was not
 * even seen. */
struct excuse witness_excuse(const struct witness *witness)
{
	struct excuse excuse = { witness->deadline_ns, witness->waited_ns };

	if (!excuse.deadline_ns)
		excuse.deadline_ns = witness->program_ns
					     ? witness->free_ns + witness->waited_ns
					     : WITNESS_WORK_NS;
	return excuse;
}
