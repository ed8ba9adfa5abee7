// SPDX-License-Identifier: BSD-2-Clause
#include "record/watched_pids.h"

#include "proc/scan.h"

#include <stdio.h>

static void add(struct watched_pids *watched, const struct pid_list *list,
		bool is_process)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct watched_pid *one = &watched->items[watched->n++];

		*one = (struct watched_pid){ list->pids[i], is_process, UINT64_MAX };
		scan_is_alive(watched->opener, one->pid, is_process, &one->start_ticks);
	}
}

void watched_pids_begin(struct watched_pids *ret, struct opener *opener,
			const struct pid_list *tgids, const struct pid_list *tids)
{
	ret->n = 0;
	ret->opener = opener;
	add(ret, tgids, true);
	add(ret, tids, false);
}

static bool is_there(struct opener *opener, const struct watched_pid *one)
{
	uint64_t start;

	return scan_is_alive(opener, one->pid, one->is_process, &start) &&
	       (!start || !one->start_ticks || start == one->start_ticks);
}

bool watched_pids_have_ended(const struct watched_pids *watched)
{
	for (unsigned int i = 0; i < watched->n; i++)
		if (is_there(watched->opener, &watched->items[i]))
			return false;
	return watched->n > 0;
}

static const char *kind_of(const struct watched_pids *watched)
{
	unsigned int processes = 0;

	for (unsigned int i = 0; i < watched->n; i++)
		processes += watched->items[i].is_process;
	if (processes && processes < watched->n)
		return "processes and threads";
	if (watched->n == 1)
		return processes ? "process" : "thread";
	return processes ? "processes" : "threads";
}

const char *watched_pids_end_text(const struct watched_pids *watched, char *out,
				  size_t room)
{
	if (watched->n == 1)
		snprintf(out, room, "%s %d has ended", kind_of(watched),
			 watched->items[0].pid);
	else
		snprintf(out, room, "all %u %s have ended", watched->n, kind_of(watched));
	return out;
}
