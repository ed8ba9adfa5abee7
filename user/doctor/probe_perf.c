// SPDX-License-Identifier: BSD-2-Clause
/* Probes that open perf events. */
#include "base/cleanup.h"
#include "kern/events.h"
#include "doctor/probe_parts.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* A file descriptor, or a negative errno. */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->exclude_guest = 1;
	return event_open(attr, pid, cpu);
}

static int open_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 10000000,
	};

	return open_event(&attr, -1, sched_getcpu());
}

void probe_perf_clock(struct probe_result *result)
{
	AUTO_CLOSE int fd = open_clock();

	if (fd >= 0) {
		probe_say(result, PROBE_OK, "cpu-clock on every process");
		return;
	}
	probe_say(result, PROBE_MISSING,
		  "perf_event_open() of the whole machine: %s; nothing can be sampled",
		  strerror(-fd));
	if (fd == -ENOSYS || fd == -ENOENT)
		probe_todo(result, "boot a kernel built with CONFIG_PERF_EVENTS=y");
	else
		probe_todo_allow(result, "perf_event_open()");
}

void probe_perf_cycles(struct probe_result *result)
{
	if (cycles_work()) {
		probe_say(result, PROBE_OK, "counted");
		return;
	}
	probe_say(result, PROBE_LIMITED,
		  "not counted: weft uses cpu-clock, which can't hit "
		  "code that runs with interrupts off");
	if (!probe_has_capability(CAP_PERFMON) && !probe_has_capability(CAP_SYS_ADMIN))
		probe_todo_capabilities(result);
	else
		probe_todo(result, "on a virtual machine: have its host provide a "
				   "performance counter (PMU)");
}

void probe_perf_paranoid(struct probe_result *result)
{
	AUTO_CLOSE int fd = open_clock();
	long level;

	if (access("/proc/self", F_OK)) {
		probe_say(result, fd < 0 ? PROBE_MISSING : PROBE_OK,
			  "not known without /proc");
		probe_todo(result, "mount -t proc proc /proc");
	} else if (!probe_read_number("/proc/sys/kernel/perf_event_paranoid", &level)) {
		probe_say(result, PROBE_MISSING,
			  "missing: this kernel has no perf events");
		probe_todo(result, "boot a kernel built with CONFIG_PERF_EVENTS=y");
	} else if (fd >= 0) {
		probe_say(result, PROBE_OK,
			  "%ld, which does not matter with these privileges", level);
	} else if (perf_paranoia()) {
		probe_say(result, PROBE_MISSING,
			  "%ld: this kernel asks for CAP_SYS_ADMIN, and CAP_PERFMON is "
			  "not enough",
			  level);
		probe_todo(result, "sysctl kernel.perf_event_paranoid=2, or run as root");
	} else {
		probe_say(result, PROBE_LIMITED,
			  "%ld: without CAP_PERFMON weft can't open events of "
			  "the whole machine",
			  level);
		probe_todo(result, "give weft CAP_PERFMON, which is better than: sysctl "
				   "kernel.perf_event_paranoid=-1");
	}
}

void probe_perf_rate(struct probe_result *result)
{
	enum { COMFORTABLE_HZ = 1000 };
	long most;

	if (!probe_read_number("/proc/sys/kernel/perf_event_max_sample_rate", &most)) {
		probe_say(result, PROBE_OK, "the kernel states no limit");
	} else if (most >= COMFORTABLE_HZ) {
		probe_say(result, PROBE_OK, "up to %ld per second", most);
	} else {
		probe_say(result, PROBE_LIMITED,
			  "the kernel, and so --freq, allows at most %ld samples per "
			  "second",
			  most);
		probe_todo(result, "sysctl kernel.perf_event_max_sample_rate=100000");
	}
}

void probe_perf_build_ids(struct probe_result *result)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap2 = 1,
		.build_id = 1,
	};
	AUTO_CLOSE int fd = open_event(&attr, 0, -1);

	if (fd >= 0) {
		probe_say(result, PROBE_OK, "the kernel reports them with each mapping");
	} else if (fd == -EPERM || fd == -EACCES) {
		probe_say(result, PROBE_LIMITED, "unknown: %s", strerror(-fd));
		probe_todo(result, "see clock event");
	} else {
		probe_say(result, PROBE_LIMITED,
			  "this kernel does not report them: weft tells files "
			  "apart by device and inode");
		probe_todo(result, "nothing to do; kernel 5.12 and later report them");
	}
}
