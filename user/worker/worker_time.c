// SPDX-License-Identifier: BSD-2-Clause
#include "worker/worker_time.h"

#include "base/clock.h"

int64_t worker_now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct worker_time worker_time_begin(pid_t pid)
{
	return (struct worker_time){ .pid = pid, .begun_ns = clock_now_ns() };
}

/* Who runs, or waits for a CPU right now, took what it ran. */
uint64_t worker_time_ns(struct worker_time *time)
{
	struct task_stat stat = { .state = 'X' };
	struct task_sched sched = task_sched_read(time->pid);
	uint64_t now_ns = clock_now_ns();

	if (time->looked_ns)
		task_stat_read(time->pid, &stat);
	if (time->looked_ns && stat.state == 'R' && sched.ran_ns)
		time->taken_ns += less(sched.ran_ns, time->sched.ran_ns);
	else if (time->looked_ns)
		time->taken_ns += less(now_ns - time->looked_ns,
				       less(sched.queued_ns, time->sched.queued_ns));
	else
		time->taken_ns = less(now_ns, time->begun_ns);
	time->looked_ns = now_ns;
	time->sched = sched;
	return time->taken_ns;
}
