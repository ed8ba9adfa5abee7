// SPDX-License-Identifier: BSD-2-Clause
#include "proc/reap.h"

#include "base/clock.h"
#include "base/signals.h"
#include "proc/scan.h"

#include <errno.h>
#include <unistd.h>

/* /proc counts from the boot, and goes on while the machine is suspended. */
static uint64_t suspended_ns(void)
{
	struct timespec boot;
	uint64_t now = clock_now_ns(), then;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	then = (uint64_t)boot.tv_sec * 1000000000 + (uint64_t)boot.tv_nsec;
	return then > now ? then - now : 0;
}

static uint64_t started_ns(uint64_t ticks, uint64_t suspended)
{
	uint64_t ns = ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));

	return ns > suspended ? ns - suspended : 0;
}

/* When it had ended for sure; 0: it lives. Who began after ours was born is another,
 * and whatever it did since then is told later than it began. */
static uint64_t end_of(struct opener *opener, const struct process *process,
		       uint64_t suspended)
{
	uint64_t before = clock_now_ns(), ticks, start;

	if (!scan_is_alive(opener, (pid_t)process->tgid, true, &ticks))
		return before;
	start = started_ns(ticks, suspended);
	return start > process->born_ns ? start : 0;
}

static int emit_exit(const struct process *process, uint64_t end_ns,
		     const struct event_sink *sink)
{
	const struct side_event event = {
		.kind = SIDE_EXIT,
		.time_ns = end_ns,
		.pid = process->tgid,
	};
	AUTO_STR bytes = { 0 };

	side_event_write(&bytes, &event);
	return str_error(&bytes) ? -ENOMEM : sink->sideband(sink->arg, bytes.s, bytes.n);
}

static bool is_in(const struct process_table *table, const struct process *process)
{
	const struct process *same = table ? process_get(table, process->tgid) : NULL;

	return same && !same->ended_ns;
}

int reap_lost_exits(struct opener *opener, const struct process_table *table,
		    const struct process_table *reaped, const struct event_sink *sink)
{
	uint64_t suspended = suspended_ns();
	const struct process *process;
	int err = 0;

	for (size_t i = 0;
	     !err && !signals_pend() && (process = process_next(table, &i));) {
		uint64_t end = process->ended_ns || is_in(reaped, process)
				       ? 0
				       : end_of(opener, process, suspended);

		if (end)
			err = emit_exit(process, end, sink);
	}
	return err;
}
