// SPDX-License-Identifier: BSD-2-Clause
#include "proc/held.h"

#include "base/clock.h"
#include "base/task_stat.h"

uint64_t held_ns(struct held *held)
{
	struct task_stat stat = { .state = 'X' };
	struct task_sched sched;
	uint64_t busy, now = clock_now_ns();

	task_stat_read(held->pid, &stat);
	sched = task_sched_read(held->pid);
	busy = sched.ran_ns + sched.queued_ns;
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
