// SPDX-License-Identifier: BSD-2-Clause
#include "proc/held.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/task_stat.h"

#include <inttypes.h>
#include <stdio.h>

/* What it ran, and waited for a CPU when it got one in the end; 0 where the kernel keeps
 * no such figures (CONFIG_SCHED_INFO). */
static uint64_t busy_ns(pid_t pid)
{
	AUTO_FCLOSE FILE *f = NULL;
	char path[64];
	uint64_t ran = 0, queued = 0;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &queued) != 2)
		return 0;
	return ran + queued;
}

uint64_t held_ns(struct held *held)
{
	struct task_stat stat = { .state = 'X' };
	uint64_t busy, now = clock_now_ns();

	task_stat_read(held->pid, &stat);
	busy = busy_ns(held->pid);
	if (held->looked_ns && stat.state != 'R') {
		uint64_t passed = now - held->looked_ns, ran = busy - held->busy_ns;

		held->waited_ns += ran < passed ? passed - ran : 0;
	}
	held->looked_ns = now;
	held->busy_ns = busy;
	return held->waited_ns;
}

bool held_is_there(pid_t pid)
{
	struct task_stat stat;

	return task_stat_read(pid, &stat) && !task_stat_has_ended(&stat, true);
}
