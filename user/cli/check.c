// SPDX-License-Identifier: BSD-2-Clause
#include "cli/check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "shared/record.h"

#include <errno.h>
#include <stdbool.h>
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

/* What /proc/PID/status tells of a process or thread. Its stat would make us wait for one
 * that does not come out of its exec (Linux 6.18). */
struct task_info {
	pid_t tgid; /* 0: there is none */
	char state;
	unsigned int threads;
	bool is_kthread;
};

static void read_task(pid_t pid, struct task_info *ret)
{
	char path[64], line[256];
	AUTO_FCLOSE FILE *f = NULL;
	bool has_memory = false;
	int kthread = -1; /* older kernels don't say */

	*ret = (struct task_info){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Tgid: %d", &ret->tgid);
		sscanf(line, "State: %c", &ret->state);
		sscanf(line, "Threads: %u", &ret->threads);
		sscanf(line, "Kthread: %d", &kthread);
		has_memory |= !strncmp(line, "VmSize:", 7);
	}
	ret->is_kthread = kthread < 0 ? !has_memory : kthread;
}

/* A process lives on when its first thread has ended alone. */
static bool has_ended(const struct task_info *task, bool whole)
{
	return strchr("ZX", task->state) && (!whole || task->threads < 2);
}

static int check_task(const char *option, pid_t pid, struct task_info *ret)
{
	read_task(pid, ret);
	if (!ret->tgid) {
		fail(-ESRCH, "--%s %d: no such process", option, pid);
		return fail_hint(-ESRCH, "ps -e lists them; give the host's ids, not a "
					 "container's");
	}
	if (has_ended(ret, !strcmp(option, "pid"))) {
		fail(-ESRCH, "--%s %d: the process has ended", option, pid);
		return fail_hint(-ESRCH, "it is a zombie that its parent has not reaped; "
					 "give a running process");
	}
	if (ret->is_kthread && !strchr("ZX", ret->state)) {
		fail(-EINVAL, "--%s %d: a kernel thread, which has no user stack to show",
		     option, pid);
		return fail_hint(-EINVAL, "sample the whole machine and look for its "
					  "name, or use --comm");
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
