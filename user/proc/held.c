// SPDX-License-Identifier: BSD-2-Clause
#include "proc/held.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/task_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define THREADS_LOOKED 64

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

/* Its stat may make us wait; its status does not. */
static bool wants_cpu(pid_t pid, const char *tid)
{
	char path[64 + sizeof(((struct dirent *)0)->d_name)], line[256];
	AUTO_FCLOSE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "State:\t", 7))
			return line[7] == 'R';
	return false;
}

bool held_lacks_cpu(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	for (int i = 0; tasks && !found && i < THREADS_LOOKED; i++) {
		entry = readdir(tasks);
		if (!entry)
			break;
		found = isdigit((unsigned char)entry->d_name[0]) &&
			wants_cpu(pid, entry->d_name);
	}
	if (tasks)
		closedir(tasks);
	return found;
}
