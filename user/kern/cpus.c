// SPDX-License-Identifier: BSD-2-Clause
#include "kern/cpus.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"

int cpus_online(bool *online, int room)
{
	AUTO_FCLOSE FILE *f = fopen(ONLINE, "re");
	int first, last;
	char next = ',';

	memset(online, 0, (size_t)room * sizeof(*online));
	if (!f)
		return fail_errno(-errno, "cannot read " ONLINE);
	while (next == ',' && fscanf(f, "%d", &first) == 1) {
		last = first;
		next = (char)fgetc(f);
		if (next == '-') {
			if (fscanf(f, "%d", &last) != 1)
				break;
			next = (char)fgetc(f);
		}
		for (int cpu = first; cpu <= last && cpu >= 0 && cpu < room; cpu++)
			online[cpu] = true;
	}
	return 0;
}

void cpus_watch_begin(struct cpus_watch *watch)
{
	*watch = (struct cpus_watch){ .fd = open(ONLINE, O_RDONLY | O_CLOEXEC) };
}

void cpus_watch_end(struct cpus_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

bool cpus_watch_changed(struct cpus_watch *watch)
{
	char text[sizeof(watch->text)] = "";
	ssize_t n = pread(watch->fd, text, sizeof(text) - 1, 0);

	if (n <= 0 || (size_t)n == sizeof(text) - 1)
		return true;
	if (!strcmp(text, watch->text))
		return false;
	memcpy(watch->text, text, sizeof(text));
	return true;
}

void cpus_watch_forget(struct cpus_watch *watch)
{
	watch->text[0] = '\0';
}

int cpus_possible(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? n : 0;
}

struct cpus_away cpus_away(void)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/stat", "re");
	uint64_t unit = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long idle, iowait, steal;

	/* cpu user nice system idle iowait irq softirq steal …, in clock ticks */
	if (!f || fscanf(f, "cpu %*u %*u %*u %llu %llu %*u %*u %llu", &idle, &iowait,
			 &steal) != 3)
		return (struct cpus_away){ 0 };
	return (struct cpus_away){ .idle_ns = (idle + iowait) * unit,
				   .stolen_ns = steal * unit };
}
