/* SPDX-License-Identifier: BSD-2-Clause */
#include "procs.h"

#include <stdio.h>

static int slot_of(struct procs *procs, pid_t pid)
{
	for (int i = 0; i < procs->n; i++)
		if (procs->items[i].pid == pid)
			return i;
	if (procs->n >= PROCS_MAX)
		return -1;
	procs->items[procs->n].pid = pid;
	return procs->n++;
}

static void look_at(struct procs *procs, int slot)
{
	pid_t pid = procs->items[slot].pid;
	unsigned long long ns, kb;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu", &ns) == 1)
		procs->items[slot].cpu_ns = ns;
	if (f)
		fclose(f);

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu", &kb) == 1)
			procs->items[slot].rss_kb = kb;
	if (f)
		fclose(f);
}

void procs_look(struct procs *procs, pid_t root)
{
	int slot = slot_of(procs, root);
	char path[64];
	FILE *f;
	int child;

	if (slot < 0)
		return;
	look_at(procs, slot);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", root, root);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		procs_look(procs, child);
	if (f)
		fclose(f);
}

uint64_t procs_cpu_ns(const struct procs *procs)
{
	uint64_t sum = 0;

	for (int i = 0; i < procs->n; i++)
		sum += procs->items[i].cpu_ns;
	return sum;
}

uint64_t procs_rss_kb(const struct procs *procs)
{
	uint64_t sum = 0;

	for (int i = 0; i < procs->n; i++)
		sum += procs->items[i].rss_kb;
	return sum;
}
