// SPDX-License-Identifier: BSD-2-Clause
#include "base/task_stat.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAST_FIELD 28

/* What follows field 2, a name that may hold anything, parentheses too; or NULL. */
static const char *read_fields(pid_t tid, char *line, size_t room)
{
	AUTO_CLOSE int fd = -1;
	char path[64];
	const char *end;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, line, room - 1);
	line[n > 0 ? n : 0] = '\0';
	end = strrchr(line, ')');
	return end ? end + 1 : NULL;
}

bool task_stat_read(pid_t tid, struct task_stat *ret)
{
	uint64_t fields[LAST_FIELD + 1] = { 0 };
	char line[2048];
	const char *at = read_fields(tid, line, sizeof(line));

	if (!at)
		return false;
	at += strspn(at, " ");
	*ret = (struct task_stat){ .state = *at };
	for (int i = 4; i <= LAST_FIELD; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
		fields[i] = strtoull(at, NULL, 10);
	}
	ret->flags = (unsigned int)fields[9];
	ret->cpu_ticks = fields[14] + fields[15] + fields[16] + fields[17];
	ret->threads = (unsigned int)fields[20];
	ret->start_ticks = fields[22];
	ret->start_stack = fields[28];
	return true;
}

FILE *task_children_open(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return fopen(path, "re");
}

struct task_sched task_sched_read(pid_t tid)
{
	AUTO_FCLOSE FILE *f = NULL;
	struct task_sched ret;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNu64 " %" SCNu64, &ret.ran_ns, &ret.queued_ns) == 2)
		return ret;
	return (struct task_sched){ 0 };
}

bool task_stat_has_ended(const struct task_stat *stat, bool whole)
{
	if (stat->state != 'Z' && stat->state != 'X')
		return false;
	return !whole || stat->threads < 2;
}
