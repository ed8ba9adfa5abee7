// SPDX-License-Identifier: BSD-2-Clause
#include "base/task_stat.h"

#include "base/small_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_FIELD 28

/* What follows field 2, a name that may hold anything, parentheses too; or NULL. */
static const char *read_fields(pid_t tid, char *line, size_t room)
{
	char path[64];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	small_file_read(path, line, room);
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
	char path[64], text[128], *end;
	struct task_sched ret = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	if (!small_file_read(path, text, sizeof(text)))
		return ret;
	ret.ran_ns = strtoull(text, &end, 10);
	ret.queued_ns = strtoull(end, NULL, 10);
	return ret;
}

bool task_stat_has_ended(const struct task_stat *stat, bool whole)
{
	if (stat->state != 'Z' && stat->state != 'X')
		return false;
	return !whole || stat->threads < 2;
}
