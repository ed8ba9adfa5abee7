// SPDX-License-Identifier: BSD-2-Clause
#include "agent/usage.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/small_file.h"
#include "base/task_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define GENERATIONS_MAX 4 /* a supervisor, its parser: two */

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_usec * 1000;
}

static uint64_t rusage_ns(int who)
{
	struct rusage used = { 0 };

	getrusage(who, &used);
	return time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
}

/* Adds one process to a sum. */
typedef void (*adder)(pid_t pid, uint64_t *sum);

/* All below a process whose threads but the first start none. */
static void add_below(pid_t pid, int generations, adder add, uint64_t *sum)
{
	AUTO_FCLOSE FILE *children = generations ? task_children_open(pid) : NULL;
	int child;

	while (children && fscanf(children, "%d", &child) == 1) {
		add(child, sum);
		add_below(child, generations - 1, add, sum);
	}
}

static void add_ticks(pid_t pid, uint64_t *sum)
{
	struct task_stat stat;

	if (task_stat_read(pid, &stat))
		*sum += stat.cpu_ticks;
}

struct pages {
	uint64_t resident, of_files;
};

/* 0: it is not there any more. */
static struct pages pages_of(pid_t pid)
{
	char path[64], text[128], *at = text;
	struct pages ret = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (!small_file_read(path, text, sizeof(text)))
		return ret;
	strtoull(at, &at, 10); /* all that it maps */
	ret.resident = strtoull(at, &at, 10);
	ret.of_files = strtoull(at, &at, 10);
	return ret;
}

static void add_own_pages(pid_t pid, uint64_t *sum)
{
	struct pages of = pages_of(pid);

	*sum += of.resident - of.of_files;
}

static uint64_t sum_below(adder add)
{
	uint64_t sum = 0;

	add_below(getpid(), GENERATIONS_MAX, add, &sum);
	return sum;
}

struct usage usage_now(void)
{
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);

	return (struct usage){
		.own_ns = rusage_ns(RUSAGE_SELF) + rusage_ns(RUSAGE_CHILDREN),
		.helpers_ns = sum_below(add_ticks) * tick_ns,
	};
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

uint64_t usage_since(const struct usage *now, const struct usage *before)
{
	/* who ended has moved from the helpers to our own */
	return more(now->own_ns + now->helpers_ns, before->own_ns + before->helpers_ns) +
	       more(now->kernel_ns, before->kernel_ns);
}

uint64_t usage_resident_bytes(void)
{
	return pages_of(getpid()).resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t usage_peak_bytes(void)
{
	struct rusage used = { 0 };

	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)used.ru_maxrss * 1024;
}

uint64_t usage_helper_bytes(void)
{
	return sum_below(add_own_pages) * (uint64_t)sysconf(_SC_PAGESIZE);
}
