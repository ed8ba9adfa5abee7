// SPDX-License-Identifier: BSD-2-Clause
#include "cli/check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/task_stat.h"
#include "shared/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int check_rate(unsigned int hz)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned int most;

	if (!f || fscanf(f, "%u", &most) != 1 || hz <= most)
		return 0;
	fail(-EINVAL, "--freq %u: the kernel allows %u samples per second", hz, most);
	return fail_hint(
		-EINVAL,
		"lower the rate, or: sysctl kernel.perf_event_max_sample_rate=%u", hz);
}

/* What /proc tells of a process or thread. */
struct task_info {
	struct task_stat stat;
	pid_t tgid;
};

static int read_tgid(pid_t pid, pid_t *ret)
{
	char path[64], line[256];
	AUTO_FCLOSE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", ret) == 1)
			return 0;
	return -ESRCH;
}

static int read_task(pid_t pid, struct task_info *ret)
{
	return task_stat_read(pid, &ret->stat) ? read_tgid(pid, &ret->tgid) : -ESRCH;
}

static int check_task(const char *option, pid_t pid, struct task_info *ret)
{
	enum { PF_KTHREAD = 0x00200000 }; /* linux/sched.h; shown in field 9 */

	if (read_task(pid, ret)) {
		fail(-ESRCH, "--%s %d: no such process", option, pid);
		return fail_hint(-ESRCH, "ps -e lists them; give the host's ids, not a "
					 "container's");
	}
	if (ret->stat.flags & PF_KTHREAD) {
		fail(-EINVAL, "--%s %d: a kernel thread, which has no user stack to show",
		     option, pid);
		return fail_hint(-EINVAL, "sample the whole machine and look for its "
					  "name, or use --comm");
	}
	if (task_stat_has_ended(&ret->stat, !strcmp(option, "pid"))) {
		fail(-ESRCH, "--%s %d: the process has ended", option, pid);
		return fail_hint(-ESRCH, "it is a zombie that its parent has not reaped; "
					 "give a running process");
	}
	return 0;
}

int check_processes(const struct pid_list *list)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct task_info task;
		int err = check_task("pid", list->pids[i], &task);

		if (err)
			return err;
		if (task.tgid != list->pids[i]) {
			fail(-EINVAL, "--pid %d: a thread of process %d", list->pids[i],
			     task.tgid);
			return fail_hint(-EINVAL,
					 "-t %d samples the thread, -p %d the "
					 "process",
					 list->pids[i], task.tgid);
		}
	}
	return 0;
}

int check_threads(const struct pid_list *list)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct task_info task;
		int err = check_task("tid", list->pids[i], &task);

		if (err)
			return err;
	}
	return 0;
}

int check_comm(const char *comm)
{
	if (strlen(comm) < TASK_COMM_BYTES)
		return 0;
	fail(-EINVAL, "--comm: longer than the %d bytes of a name that the kernel keeps",
	     TASK_COMM_BYTES - 1);
	return fail_hint(-EINVAL, "give its first %d bytes, as ps -e shows them",
			 TASK_COMM_BYTES - 1);
}
