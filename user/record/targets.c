// SPDX-License-Identifier: BSD-2-Clause
#include "record/targets.h"

#include "proc/scan.h"

#include <stdio.h>

static void note(struct targets *targets, const struct pid_list *list, bool whole)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct target *target = &targets->items[targets->n++];

		*target = (struct target){ list->pids[i], whole, UINT64_MAX };
		scan_is_alive(target->pid, whole, &target->start_ticks);
	}
}

void targets_note(struct targets *ret, const struct pid_list *tgids,
		  const struct pid_list *tids)
{
	ret->n = 0;
	note(ret, tgids, true);
	note(ret, tids, false);
}

static bool is_there(const struct target *target)
{
	uint64_t start;

	return scan_is_alive(target->pid, target->whole, &start) &&
	       (!start || !target->start_ticks || start == target->start_ticks);
}

bool targets_have_ended(const struct targets *targets)
{
	for (unsigned int i = 0; i < targets->n; i++)
		if (is_there(&targets->items[i]))
			return false;
	return targets->n > 0;
}

static const char *kind_of(const struct targets *targets)
{
	unsigned int processes = 0;

	for (unsigned int i = 0; i < targets->n; i++)
		processes += targets->items[i].whole;
	if (processes && processes < targets->n)
		return "processes and threads";
	if (targets->n == 1)
		return processes ? "process" : "thread";
	return processes ? "processes" : "threads";
}

const char *targets_end_text(const struct targets *targets, char *out, size_t room)
{
	if (targets->n == 1)
		snprintf(out, room, "%s %d has ended", kind_of(targets),
			 targets->items[0].pid);
	else
		snprintf(out, room, "all %u %s have ended", targets->n, kind_of(targets));
	return out;
}
