/* SPDX-License-Identifier: BSD-2-Clause */
#include "progs.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool info_of(int fd, struct bpf_prog_info *info)
{
	unsigned int bytes = sizeof(*info);

	*info = (struct bpf_prog_info){ 0 };
	return !bpf_obj_get_info_by_fd(fd, info, &bytes);
}

static void add(struct progs *progs, unsigned int id)
{
	struct bpf_prog_info info;
	int fd;

	for (int i = 0; i < progs->n; i++)
		if (progs->ids[i] == id)
			return;
	if (progs->n >= PROGS_MAX)
		return;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd >= 0 && (!info_of(fd, &info) || info.type != BPF_PROG_TYPE_PERF_EVENT)) {
		close(fd);
		fd = -1;
	}
	progs->ids[progs->n] = id;
	progs->fds[progs->n++] = fd;
}

void progs_find(struct progs *progs, pid_t pid)
{
	struct dirent *entry;
	char path[300], line[128];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned int id;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "prog_id: %u", &id) == 1)
				add(progs, id);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

struct run_time progs_run_time(const struct progs *progs)
{
	struct run_time sum = { 0 };
	struct bpf_prog_info info;

	for (int i = 0; i < progs->n; i++) {
		if (progs->fds[i] < 0 || !info_of(progs->fds[i], &info))
			continue;
		sum.runs += info.run_cnt;
		sum.ns += info.run_time_ns;
	}
	return sum;
}

int progs_attach(const struct progs *progs, pid_t task, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000ULL / hz,
		.disabled = 1,
		.exclude_guest = 1,
	};
	int first = 0, event;

	while (first < progs->n && progs->fds[first] < 0)
		first++;
	if (first == progs->n)
		return -1;
	event = (int)syscall(SYS_perf_event_open, &attr, task, -1, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -1;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, progs->fds[first]) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		close(event);
		return -1;
	}
	return event;
}
