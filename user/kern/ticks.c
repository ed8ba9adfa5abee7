// SPDX-License-Identifier: BSD-2-Clause
#include "kern/ticks.h"

#include "base/error.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int ticks_begin(struct ticks *ticks, enum tick_event event, unsigned int hz, int n_cpus)
{
	int *fds = malloc((size_t)n_cpus * sizeof(*fds));

	if (!fds)
		return fail(-ENOMEM, "no memory for %d CPUs", n_cpus);
	for (int cpu = 0; cpu < n_cpus; cpu++)
		fds[cpu] = -1;
	*ticks = (struct ticks){ .event = event, .hz = hz, .n_cpus = n_cpus, .fds = fds };
	return 0;
}

static void close_all(struct ticks *ticks)
{
	for (int cpu = 0; cpu < ticks->n_cpus; cpu++)
		if (ticks->fds[cpu] >= 0)
			close(ticks->fds[cpu]);
}

void ticks_end(struct ticks *ticks)
{
	close_all(ticks);
	free(ticks->fds);
	*ticks = (struct ticks){ 0 };
}

static int attach(int fd, int program)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)
		       ? fail_errno(-errno, "cannot attach the sampling program")
		       : 0;
}

static int open_cpu(struct ticks *ticks, int cpu, int program)
{
	int fd = tick_open(ticks->event, ticks->hz, cpu);

	if (fd < 0)
		return fd;
	ticks->fds[cpu] = fd;
	return program < 0 ? 0 : attach(fd, program);
}

int ticks_add_cpu(struct ticks *ticks, int cpu, int program)
{
	int err = open_cpu(ticks, cpu, program);

	if (!err && ticks->running && ioctl(ticks->fds[cpu], PERF_EVENT_IOC_ENABLE, 0))
		err = fail_errno(-errno, "cannot start the ticks of CPU %d", cpu);
	return err;
}

int ticks_attach(struct ticks *ticks, int program)
{
	int err = 0;

	for (int cpu = 0; !err && cpu < ticks->n_cpus; cpu++)
		if (ticks->fds[cpu] >= 0)
			err = attach(ticks->fds[cpu], program);
	return err;
}

/* What tick_open() has its events tell. */
static struct tick_count count_on(const struct ticks *ticks, int cpu)
{
	struct tick_count count;

	if (ticks->fds[cpu] < 0 ||
	    read(ticks->fds[cpu], &count, sizeof(count)) != sizeof(count))
		return (struct tick_count){ 0 };
	return count;
}

static uint64_t due_on(const struct ticks *ticks, int cpu)
{
	if (ticks->event != TICK_CPU_CLOCK)
		return 0;
	return count_on(ticks, cpu).value / ticks_period_ns(ticks->hz);
}

void ticks_drop_cpu(struct ticks *ticks, int cpu)
{
	ticks->gone += due_on(ticks, cpu);
	close(ticks->fds[cpu]);
	ticks->fds[cpu] = -1;
}

bool ticks_has_cpu(const struct ticks *ticks, int cpu)
{
	return ticks->fds[cpu] >= 0;
}

bool ticks_still(const struct ticks *ticks, int cpu)
{
	uint64_t before = count_on(ticks, cpu).enabled_ns;

	return ticks->running && count_on(ticks, cpu).enabled_ns == before;
}

static int each(struct ticks *ticks, unsigned long request)
{
	for (int cpu = 0; cpu < ticks->n_cpus; cpu++)
		if (ticks->fds[cpu] >= 0 && ioctl(ticks->fds[cpu], request, 0) &&
		    errno != ENODEV) /* a CPU that just went away */
			return fail_errno(-errno, "cannot switch the ticks of CPU %d",
					  cpu);
	return 0;
}

int ticks_start(struct ticks *ticks)
{
	ticks->running = true;
	ticks->away = cpus_away();
	return each(ticks, PERF_EVENT_IOC_ENABLE);
}

static struct cpus_away away_so_far(const struct ticks *ticks)
{
	struct cpus_away now;

	if (!ticks->running)
		return ticks->away;
	now = cpus_away();
	now.idle_ns -= ticks->away.idle_ns;
	now.stolen_ns -= ticks->away.stolen_ns;
	return now;
}

int ticks_stop(struct ticks *ticks)
{
	ticks->away = away_so_far(ticks);
	ticks->running = false;
	return each(ticks, PERF_EVENT_IOC_DISABLE);
}

int ticks_reopen(struct ticks *ticks, unsigned int hz, int program)
{
	int err = 0;

	ticks->past = ticks_due(ticks);
	ticks->away = (struct cpus_away){ 0 };
	ticks->gone = 0;
	ticks->hz = hz;
	for (int cpu = 0; !err && cpu < ticks->n_cpus; cpu++) {
		if (ticks->fds[cpu] < 0)
			continue;
		close(ticks->fds[cpu]);
		ticks->fds[cpu] = -1;
		err = open_cpu(ticks, cpu, program);
		if (err == -ENODEV)
			err = 0;
	}
	return err;
}

struct due_ticks ticks_due(const struct ticks *ticks)
{
	const struct cpus_away away = away_so_far(ticks);
	uint64_t period_ns = ticks_period_ns(ticks->hz);
	uint64_t due = ticks->gone, idle = away.idle_ns / period_ns;

	for (int cpu = 0; cpu < ticks->n_cpus; cpu++)
		due += due_on(ticks, cpu);
	/* an idle CPU's clock may stop: nobody is missing there */
	due -= idle < due ? idle : due;
	return (struct due_ticks){
		.expected = ticks->past.expected + due,
		.stolen = ticks->past.stolen + away.stolen_ns / period_ns,
	};
}
