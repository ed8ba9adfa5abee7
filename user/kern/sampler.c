// SPDX-License-Identifier: BSD-2-Clause
#include "kern/sampler.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "kern/cpus.h"
#include "kern/events.h"
#include "kern/inner_maps.h"
#include "kern/kernel_memory.h"
#include "kern/ledger.h"
#include "kern/load.h"
#include "kern/page_slabs.h"
#include "kern/sideband.h"
#include "kern/ticks.h"
#include "shared/orc.h"

#include "weft.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define PARTS_AGAIN_NS (60 * SECOND_NS)

struct sampler {
	struct kernel_half half;
	unsigned int parts;	  /* enum tick_parts: wanted, */
	unsigned int ticks_parts; /* and those of the tick */
	uint64_t parts_ns;	  /* it is not loaded with more before */
	int tick_fd;		  /* -1: it is not loaded yet */
	struct ring_buffer *rings;
	struct sideband *sideband;
	struct event_sink sink; /* while sampler_read() runs */
	int epoll_fd;
	int n_cpus;    /* possible ones */
	int *ring_fds; /* by CPU; -1: none */
	struct ticks ticks;
	struct bpf_link *fork_link, *exec_link, *free_link;
	unsigned int ring_bytes;
	struct cpus_watch online;
	unsigned long long *entered; /* by CPU: ticks, at the last look at CPUs */
	uint64_t fixed_bytes;	     /* of the kernel's; 0: to be measured */
	bool unwatched;		     /* a CPU's sideband was missed for a while */
};

static int filter_pids(struct sampler *s, const struct sampler_config *config)
{
	for (unsigned int i = 0; i < config->n_pids; i++) {
		uint32_t pid = (uint32_t)config->pids[i];
		uint8_t yes = 1;

		if (bpf_map_update_elem(bpf_map__fd(s->half.skel->maps.filter_pids), &pid,
					&yes, BPF_ANY))
			return fail_errno(-errno, "cannot filter by pid %u", pid);
	}
	return 0;
}

static int on_sample(void *arg, void *record, size_t bytes)
{
	struct sampler *s = arg;

	return s->sink.sample(s->sink.arg, record, bytes);
}

static int make_ring(struct sampler *s, int cpu)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "weft_ring", 0, 0, s->ring_bytes,
				NULL);

	if (fd < 0) {
		fail_errno(-errno, "no ring buffer for CPU %d", cpu);
		return fail_hint(-errno, "raise the limit of locked memory (ulimit -l)");
	}
	s->ring_fds[cpu] = fd;
	if (s->rings)
		return ring_buffer__add(s->rings, fd, on_sample, s)
			       ? fail_errno(-errno, "cannot map the ring of CPU %d", cpu)
			       : 0;
	s->rings = ring_buffer__new(fd, on_sample, s, NULL);
	return s->rings ? 0 : fail_errno(-errno, "cannot map the ring of CPU %d", cpu);
}

static int set_ring(struct sampler *s, int cpu)
{
	const uint32_t key = (uint32_t)cpu;

	return inner_maps_set(bpf_map__fd(s->half.skel->maps.rings), &key,
			      &s->ring_fds[cpu], 1);
}

static int set_rings(struct sampler *s)
{
	AUTO_FREE uint32_t *cpus = calloc((size_t)s->n_cpus, sizeof(*cpus));
	AUTO_FREE int *fds = calloc((size_t)s->n_cpus, sizeof(*fds));
	uint32_t n = 0;

	if (!cpus || !fds)
		return fail(-ENOMEM, "no memory for %d CPUs", s->n_cpus);
	for (int cpu = 0; cpu < s->n_cpus; cpu++)
		if (s->ring_fds[cpu] >= 0) {
			cpus[n] = (uint32_t)cpu;
			fds[n++] = s->ring_fds[cpu];
		}
	return inner_maps_set(bpf_map__fd(s->half.skel->maps.rings), cpus, fds, n);
}

/* That has a ring. */
static int watch_cpu(struct sampler *s, int cpu)
{
	int err = sideband_add_cpu(s->sideband, cpu, s->epoll_fd);

	return err ? err : ticks_add_cpu(&s->ticks, cpu, s->tick_fd);
}

static int add_cpu(struct sampler *s, int cpu)
{
	int err = s->ring_fds[cpu] < 0 ? make_ring(s, cpu) : 0;

	s->fixed_bytes = 0;
	if (!err)
		err = set_ring(s, cpu);
	return err ? err : watch_cpu(s, cpu);
}

static int add_online_cpus(struct sampler *s)
{
	AUTO_FREE bool *online = calloc((size_t)s->n_cpus, sizeof(*online));
	int err = online ? cpus_online(online, s->n_cpus) : fail(-ENOMEM, "no memory");

	for (int cpu = 0; !err && cpu < s->n_cpus; cpu++)
		if (online[cpu])
			err = make_ring(s, cpu);
	if (!err)
		err = set_rings(s);
	for (int cpu = 0; !err && cpu < s->n_cpus; cpu++)
		if (online[cpu])
			err = watch_cpu(s, cpu);
	return err;
}

static int open_all(struct sampler *s, const struct sampler_config *config)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err = sideband_new(&s->sideband, s->n_cpus);

	if (err)
		return err;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return fail_errno(-errno, "epoll");
	err = add_online_cpus(s);
	if (err)
		return err;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->rings),
		      &event))
		return fail_errno(-errno, "epoll");
	return 0;
}

/* Forks and ends are watched from before anything is published or filtered for. */
static int watch_forks(struct sampler *s)
{
	s->fork_link = bpf_program__attach(s->half.skel->progs.process_fork);
	if (!s->fork_link)
		return fail_errno(-errno, "cannot watch forks");
	s->exec_link = bpf_program__attach(s->half.skel->progs.process_exec);
	if (!s->exec_link)
		return fail_errno(-errno, "cannot watch execs");
	s->free_link = bpf_program__attach(s->half.skel->progs.process_free);
	return s->free_link ? 0 : fail_errno(-errno, "cannot watch process exits");
}

static int *new_fds(int n)
{
	int *fds = malloc((size_t)n * sizeof(*fds));

	for (int i = 0; fds && i < n; i++)
		fds[i] = -1;
	return fds;
}

int sampler_new(struct sampler **ret, const struct sampler_config *config)
{
	AUTO(sampler) s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory for the sampler");
	s->epoll_fd = s->tick_fd = s->half.types_fd = -1;
	s->parts = config->knobs.parts;
	cpus_watch_begin(&s->online);
	s->ring_bytes = load_ring_bytes(config->hz);
	s->n_cpus = cpus_possible();
	if (s->n_cpus <= 0 || s->n_cpus > CPUS_MAX)
		return fail(-ENOSYS, "cannot find out the number of CPUs");
	s->ring_fds = new_fds(s->n_cpus);
	s->entered = calloc((size_t)s->n_cpus, sizeof(*s->entered));
	if (!s->ring_fds || !s->entered)
		return fail(-ENOMEM, "no memory for %d CPUs", s->n_cpus);

	err = ticks_begin(&s->ticks, config->event, config->hz, s->n_cpus);
	if (!err)
		err = load_object(&s->half, config);
	if (!err)
		err = watch_forks(s);
	if (!err)
		err = filter_pids(s, config);
	if (!err)
		err = open_all(s, config);
	if (err)
		return err;
	*ret = GIVE(s);
	return 0;
}

static void close_fds(int *fds, int n)
{
	for (int i = 0; fds && i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(fds);
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	bpf_link__destroy(s->fork_link);
	bpf_link__destroy(s->exec_link);
	bpf_link__destroy(s->free_link);
	ticks_end(&s->ticks);
	ring_buffer__free(s->rings);
	close_fds(s->ring_fds, s->n_cpus);
	free(s->entered);
	cpus_watch_end(&s->online);
	sideband_free(s->sideband);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->tick_fd >= 0)
		close(s->tick_fd);
	load_free(&s->half);
	free(s);
}

/* With the parts that are wanted. The one before stays where an event has it. */
static int make_tick(struct sampler *s, unsigned int parts)
{
	int fd, err = load_tick(&fd, &s->half, parts);

	if (err)
		return err;
	if (s->tick_fd >= 0)
		close(s->tick_fd);
	s->tick_fd = fd;
	s->ticks_parts = parts;
	s->fixed_bytes = 0;
	return 0;
}

int sampler_start(struct sampler *s)
{
	bool is_late = s->half.skel->rodata->knobs.faults & LATE_PARTS;
	int err = make_tick(s, is_late ? 0 : s->parts);

	if (!err)
		err = ticks_attach(&s->ticks, s->tick_fd);
	return err ? err : ticks_start(&s->ticks);
}

int sampler_stop(struct sampler *s)
{
	return ticks_stop(&s->ticks);
}

int sampler_set_hz(struct sampler *s, unsigned int hz, uint64_t *ret_since_ns)
{
	int err = ticks_stop(&s->ticks);

	if (!err)
		err = ticks_reopen(&s->ticks, hz, s->tick_fd);
	if (err)
		return err;
	s->half.skel->bss->tick_ns = ticks_period_ns(hz);
	*ret_since_ns = clock_now_ns();
	return ticks_start(&s->ticks);
}

int sampler_want_parts(struct sampler *s, unsigned int parts)
{
	int err;

	s->parts |= parts;
	if (!s->ticks.running || !(s->parts & ~s->ticks_parts) ||
	    clock_now_ns() < s->parts_ns)
		return 0;
	err = make_tick(s, s->parts);
	if (err) {
		log_warn("processes with async callers, a JVM or LuaJIT are not walked, "
			 "their stacks are cut: %s; weft tries again in a minute",
			 error_sentence());
		error_clear();
		s->parts_ns = clock_now_ns() + PARTS_AGAIN_NS;
		return 0;
	}
	log_verbose("ticks have another program, for what is new here");
	err = ticks_stop(&s->ticks);
	if (!err)
		err = ticks_reopen(&s->ticks, s->ticks.hz, s->tick_fd);
	return err ? err : ticks_start(&s->ticks);
}

int sampler_fd(const struct sampler *s)
{
	return s->epoll_fd;
}

int sampler_read(struct sampler *s, const struct event_sink *sink)
{
	int n;

	s->sink = *sink;
	n = ring_buffer__consume(s->rings);
	if (n < 0)
		return n;
	return sideband_read(s->sideband, sink);
}

/* Its events are opened anew when it comes back. */
static void drop_cpu(struct sampler *s, int cpu)
{
	ticks_drop_cpu(&s->ticks, cpu);
	sideband_drop_cpu(s->sideband, cpu);
	s->fixed_bytes = 0;
	s->unwatched = true;
}

static int take_up_cpu(struct sampler *s, int cpu)
{
	int err = add_cpu(s, cpu);

	s->unwatched = true;
	if (err != -ENODEV)
		return err;
	error_clear(); /* gone again already: next time, even if it is back by then */
	cpus_watch_forget(&s->online);
	return 0;
}

static int read_ledgers(const struct sampler *s, uint32_t hook, struct ledger *all)
{
	if (bpf_map_lookup_elem(bpf_map__fd(s->half.skel->maps.ledgers), &hook, all))
		return fail_errno(-errno, "cannot read the ledger");
	return 0;
}

/* Has each CPU ticked since the last look? That costs a look at the ledger, and to ask
 * their events for how long they count one interrupt a CPU. */
static bool all_tick(struct sampler *s)
{
	AUTO_FREE struct ledger *all = calloc((size_t)s->n_cpus, sizeof(*all));
	bool ret = true;

	if (!all || read_ledgers(s, HOOK_ONCPU, all)) {
		error_clear();
		return false;
	}
	for (int cpu = 0; cpu < s->n_cpus; cpu++) {
		ret &= !ticks_has_cpu(&s->ticks, cpu) ||
		       all[cpu].entered != s->entered[cpu];
		s->entered[cpu] = all[cpu].entered;
	}
	return ret;
}

static int look_at_cpus(struct sampler *s)
{
	AUTO_FREE bool *online = calloc((size_t)s->n_cpus, sizeof(*online));
	int err = online ? cpus_online(online, s->n_cpus) : fail(-ENOMEM, "no memory");

	for (int cpu = 0; !err && cpu < s->n_cpus; cpu++) {
		/* it may have gone and come back since the last look */
		if (ticks_has_cpu(&s->ticks, cpu) &&
		    (!online[cpu] || ticks_still(&s->ticks, cpu)))
			drop_cpu(s, cpu);
		if (online[cpu] && !ticks_has_cpu(&s->ticks, cpu))
			err = take_up_cpu(s, cpu);
	}
	return err;
}

int sampler_check_cpus(struct sampler *s)
{
	bool is_same = !cpus_watch_changed(&s->online);

	return all_tick(s) && is_same ? 0 : look_at_cpus(s);
}

bool sampler_was_unwatched(struct sampler *s)
{
	bool was = s->unwatched;

	s->unwatched = false;
	return was;
}

/* All but pages. */
static uint64_t measure_kernel_bytes(const struct sampler *s)
{
	uint64_t sum = kernel_memory_of_object(s->half.skel->obj) +
		       kernel_memory_of(s->tick_fd) + sideband_bytes(s->sideband);

	for (int cpu = 0; cpu < s->n_cpus; cpu++)
		if (s->ring_fds[cpu] >= 0)
			sum += kernel_memory_of(s->ring_fds[cpu]);
	return sum;
}

uint64_t sampler_kernel_bytes(struct sampler *s)
{
	uint64_t growing = load_growing_bytes(&s->half);

	if (!s->fixed_bytes)
		s->fixed_bytes = measure_kernel_bytes(s) - growing;
	return s->fixed_bytes + growing +
	       (s->half.slabs ? page_slabs_bytes(s->half.slabs) : 0);
}

struct publish_maps sampler_publish_maps(const struct sampler *s)
{
	return (struct publish_maps){
		.processes = bpf_map__fd(s->half.skel->maps.processes),
		.publications = s->half.skel->bss->publications,
		.slabs = s->half.slabs,
		.files = bpf_map__fd(s->half.skel->maps.unwind_files),
		.hotspots = bpf_map__fd(s->half.skel->maps.hotspots),
		.n_pages = s->half.slabs ? page_slabs_pages(s->half.slabs) : 0,
	};
}

int sampler_totals(struct sampler *s, struct sampler_totals *ret)
{
	AUTO_FREE struct ledger *all = calloc((size_t)s->n_cpus, sizeof(*all));
	const struct due_ticks due = ticks_due(&s->ticks);
	struct sampler_totals totals = { .expected_ticks = due.expected,
					 .stolen_ticks = due.stolen };

	if (!all)
		return fail(-ENOMEM, "no memory for the ledger");
	for (uint32_t hook = 0; hook < N_HOOKS; hook++) {
		int err = read_ledgers(s, hook, all);

		if (err)
			return err;
		for (int cpu = 0; cpu < s->n_cpus; cpu++)
			ledger_add(&totals.ledgers[hook], &all[cpu]);
	}
	*ret = totals;
	return 0;
}
