// SPDX-License-Identifier: BSD-2-Clause
#include "kern/events.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

const char *tick_event_name(enum tick_event event)
{
	return event == TICK_CYCLES ? "cycles" : "cpu-clock";
}

/* A clock has a period in time; cycles are steered to a frequency. */
static struct perf_event_attr tick_attr(enum tick_event event, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
		.exclude_guest = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED, /* struct tick_count */
	};

	if (event == TICK_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = hz;
	} else {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_period = 1000000000ULL / hz;
	}
	return attr;
}

bool cycles_work(void)
{
	/* the lowest rate: the kernel may have lowered what it allows */
	struct perf_event_attr attr = tick_attr(TICK_CYCLES, 1);
	struct timespec begin, now;
	struct tick_count count;
	AUTO_CLOSE int fd = event_open(&attr, 0, -1);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec == begin.tv_sec && now.tv_nsec - begin.tv_nsec < 1000000);
	return read(fd, &count, sizeof(count)) == sizeof(count) && count.value > 0;
}

/* The last level that all kernels have. Debian's and Ubuntu's have 3 and 4 besides. */
#define PARANOIA_USUAL 2

long perf_paranoia(void)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	long level;

	return f && fscanf(f, "%ld", &level) == 1 && level > PARANOIA_USUAL ? level : 0;
}

int events_refused(const char *call)
{
	return fail_hint(-EPERM,
			 "a container's seccomp profile or a security module refuses %s: "
			 "allow it there; `weft doctor` says more",
			 call);
}

static int hint_refused(int fd)
{
	long level = perf_paranoia();

	if (fd != -EACCES && fd != -EPERM)
		return fd;
	if (!level)
		return events_refused("perf_event_open()");
	return fail_hint(
		-EPERM,
		"at kernel.perf_event_paranoid = %ld this kernel wants more than "
		"CAP_PERFMON: sysctl kernel.perf_event_paranoid=%d, or run as root",
		level, PARANOIA_USUAL);
}

int tick_open(enum tick_event event, unsigned int hz, int cpu)
{
	struct perf_event_attr attr = tick_attr(event, hz);
	int fd;

	fd = event_open(&attr, -1, cpu);
	if (fd >= 0)
		return fd;
	fail_errno(fd, "cannot open the perf event %s on CPU %d", tick_event_name(event),
		   cpu);
	return hint_refused(fd);
}

int sideband_open(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
		.read_format = PERF_FORMAT_LOST,
	};
	int fd = event_open(&attr, -1, cpu);

	if (fd == -EINVAL) { /* a kernel before 6.0 */
		attr.read_format = 0;
		fd = event_open(&attr, -1, cpu);
	}
	if (fd >= 0)
		return fd;
	fail_errno(fd, "cannot watch mappings on CPU %d", cpu);
	return hint_refused(fd);
}
