// SPDX-License-Identifier: BSD-2-Clause
#include "agent/usage.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/task_stat.h"

#include <stdio.h>
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

/* Of all below a process whose threads but the first start none. */
static uint64_t ticks_below(pid_t pid, int generations)
{
	AUTO_FCLOSE FILE *children = NULL;
	struct task_stat stat;
	uint64_t sum = 0;
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	children = generations ? fopen(path, "re") : NULL;
	while (children && fscanf(children, "%d", &child) == 1) {
		if (task_stat_read(child, &stat))
			sum += stat.cpu_ticks;
		sum += ticks_below(child, generations - 1);
	}
	return sum;
}

struct usage usage_now(void)
{
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);

	return (struct usage){
		.own_ns = rusage_ns(RUSAGE_SELF) + rusage_ns(RUSAGE_CHILDREN),
		.helpers_ns = ticks_below(getpid(), GENERATIONS_MAX) * tick_ns,
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
	AUTO_FCLOSE FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
