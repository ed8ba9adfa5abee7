// SPDX-License-Identifier: BSD-2-Clause
#include "cli/check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/task_stat.h"
#include "shared/record.h"

#include <ctype.h>
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
	char comm[TASK_COMM_BYTES];
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
		sscanf(line, "Name: %15[^\n]", ret->comm);
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

/* Of its first thread, as servers have them; how many are not on the list, and one. */
static unsigned int count_children(const struct pid_list *list, pid_t parent, pid_t *ret)
{
	AUTO_FCLOSE FILE *f = task_children_open(parent);
	unsigned int n = 0;
	pid_t child;

	while (f && fscanf(f, "%d", &child) == 1)
		if (!pid_list_contains(list, child)) {
			*ret = child;
			n++;
		}
	return n;
}

/* One that a shell takes as it is. */
static bool is_plain(const char *name)
{
	return isalnum((unsigned char)*name) &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-")];
}

static void tell_children(pid_t parent, unsigned int n, pid_t child)
{
	char name[4 * TASK_COMM_BYTES];
	struct task_info task, other;
	bool alike;

	read_task(parent, &task);
	read_task(child, &other);
	alike = !strcmp(task.comm, other.comm) && is_plain(task.comm);
	str_clean(name, sizeof(name), task.comm, strlen(task.comm));
	log_warn("process %d (%s) has %u child process%s, which -p leaves out", parent,
		 name, n, n == 1 ? "" : "es");
	log_hint("to sample %s, too: -p %d,$(pgrep -d, -P %d)%s%s",
		 n == 1 ? "it" : "them", parent, parent,
		 alike ? "; and those that start later: --comm " : "",
		 alike ? task.comm : "");
}

void check_children(const struct pid_list *list)
{
	pid_t child = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		unsigned int n = count_children(list, list->pids[i], &child);

		if (n) {
			tell_children(list->pids[i], n, child);
			return;
		}
	}
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
