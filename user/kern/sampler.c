// SPDX-License-Identifier: BSD-2-Clause
#include "kern/sampler.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "kern/arch.h"
#include "kern/events.h"
#include "kern/kernel_memory.h"
#include "kern/kernel_types.h"
#include "kern/ledger.h"
#include "kern/sideband.h"
#include "kern/ticks.h"
#include "shared/orc.h"

#include "weft.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

struct sampler {
	struct weft_bpf *skel;
	struct ring_buffer *rings;
	struct sideband *sideband;
	struct event_sink sink; /* while sampler_read() runs */
	int epoll_fd;
	int n_cpus;    /* possible ones */
	int *ring_fds; /* by CPU; -1: none */
	struct ticks ticks;
	struct bpf_link *fork_link, *exec_link, *free_link;
	unsigned int ring_bytes;
	bool unwatched; /* a CPU's sideband was missed for a while */
};

#define RING_BYTES_MIN (64u << 10)
#define RING_BYTES_MAX (16u << 20)
#define SAMPLE_BYTES   4096 /* of a deep stack */
#define LOAD_TRIES     10

/* Tables have as much, however little a budget leaves. */
#define TABLE_PAGES_MIN ((1u << 20) / UNWIND_PAGE_BYTES)

/* Room for a quarter of a second: the reader comes by every 50 ms. */
static unsigned int ring_size(unsigned int hz)
{
	unsigned int bytes = RING_BYTES_MIN;

	while (bytes < RING_BYTES_MAX && bytes < hz / 4 * SAMPLE_BYTES)
		bytes *= 2;
	return bytes;
}

static int on_libbpf_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	log_verbose("%s", line);
	return 0;
}

static int load_failed(int err)
{
	/* EACCES is the verifier's word, not about privileges */
	if (err == -EPERM) {
		fail(-EPERM, "the kernel refuses to load BPF programs: no permission");
		return events_refused("bpf()");
	}
	if (err == -ENOMEM) {
		fail(-ENOMEM, "no memory for weft's BPF programs and maps");
		return fail_hint(-ENOMEM,
				 "raise the limits (ulimit -d, ulimit -v, the memory of "
				 "this cgroup), or give tables less: --unwind-memory 8");
	}
	fail_errno(err, "the kernel rejects weft's BPF programs");
	if (err == -EMFILE)
		return err;
	return fail_hint(-EOPNOTSUPP, "`weft doctor` says what this kernel lacks; "
				      "-v shows the kernel's own message");
}

/* With all of the kernel's types where the few that it needs can't be had. Who has no
 * memory for those has none for these, of which libbpf says that there are none. */
static struct weft_bpf *open_object(int *ret_types_fd)
{
	char path[KERNEL_TYPES_PATH_BYTES];
	struct bpf_object_open_opts options = { .sz = sizeof(options),
						.btf_custom_path = path };
	const void *object;
	size_t bytes;
	int err;

	object = weft_bpf__elf_bytes(&bytes);
	err = kernel_types_file(object, bytes, path, ret_types_fd);
	if (err) {
		log_verbose("%s", error_sentence());
		error_clear();
		options.btf_custom_path = NULL;
	}
	errno = ENOMEM;
	return err == -ENOMEM ? NULL : weft_bpf__open_opts(&options);
}

/* What was asked for, or what others leave of the budget. */
static uint32_t table_pages(const struct sampler *s, const struct sampler_config *config)
{
	uint64_t due, most = config->kernel_bytes_max;

	if (!most)
		return config->table_pages;
	due = kernel_memory_due(s->skel->obj, s->ring_bytes, s->n_cpus);
	most = most > due ? (most - due) / UNWIND_PAGE_BYTES : 0;
	if (most < TABLE_PAGES_MIN)
		most = TABLE_PAGES_MIN;
	return most < config->table_pages ? (uint32_t)most : config->table_pages;
}

int sampler_kernel_bytes_min(unsigned int hz, uint64_t *ret)
{
	struct weft_bpf *skel = weft_bpf__open();

	if (!skel)
		return fail_errno(-errno, "weft's BPF object can't be read");
	*ret = kernel_memory_due(skel->obj, ring_size(hz), cpus_possible()) +
	       (uint64_t)TABLE_PAGES_MIN * UNWIND_PAGE_BYTES;
	weft_bpf__destroy(skel);
	return 0;
}

static int load_once(struct sampler *s, const struct sampler_config *config)
{
	AUTO_CLOSE int types_fd = -1;
	struct knobs *knobs;
	int err;

	s->skel = open_object(&types_fd);
	if (!s->skel)
		return -errno;
	knobs = (struct knobs *)&s->skel->rodata->knobs;
	*knobs = config->knobs;
	knobs->wakeup_bytes = s->ring_bytes / 4;
	knobs->page_bytes = (unsigned int)sysconf(_SC_PAGESIZE);
	knobs->clock_tick_ns = (unsigned int)(1000000000 / sysconf(_SC_CLK_TCK));
	knobs->kernel_stack_bytes = arch_kernel_stack_bytes();
	knobs->addr_mask = arch_addr_mask();
	knobs->orc = arch_has_orc();
	knobs->helper_frames = arch_helper_frames();
	bpf_program__set_autoload(s->skel->progs.orc_find_tables, knobs->orc);

	s->skel->bss->tick_ns = ticks_period_ns(config->hz);
	knobs->follow_forks = config->follow_forks;
	knobs->tables = config->table_pages > 1;

	err = bpf_map__set_max_entries(s->skel->maps.rings, (unsigned int)s->n_cpus);
	if (!err && config->table_pages > 1)
		err = bpf_map__set_max_entries(s->skel->maps.unwind_pages,
					       table_pages(s, config));
	if (!err && config->follow_forks)
		err = bpf_map__set_max_entries(s->skel->maps.filter_pids, FAMILY_MAX);
	return err ? err : weft_bpf__load(s->skel);
}

/* Without them the kernel's helper is asked for each of its stacks. */
static void find_orc_tables(const struct sampler *s)
{
	struct bpf_test_run_opts run = { .sz = sizeof(run) };
	int fd = bpf_program__fd(s->skel->progs.orc_find_tables);

	if (s->skel->rodata->knobs.orc && bpf_prog_test_run_opts(fd, &run))
		log_verbose("the kernel's unwind tables can't be looked for: %s",
			    strerror(errno));
	if (!s->skel->bss->orc_tables.n)
		log_verbose("the kernel is asked for its stacks: it has no unwind tables "
			    "of a format that weft knows");
}

/* A signal that comes during verification makes the kernel give up. */
static int load(struct sampler *s, const struct sampler_config *config)
{
	int err = -EAGAIN;

	libbpf_set_print(on_libbpf_print);
	for (int tries = 0; err == -EAGAIN && tries < LOAD_TRIES; tries++) {
		weft_bpf__destroy(s->skel);
		err = load_once(s, config);
	}
	return err ? load_failed(err) : 0;
}

static int filter_pids(struct sampler *s, const struct sampler_config *config)
{
	for (unsigned int i = 0; i < config->n_pids; i++) {
		uint32_t pid = (uint32_t)config->pids[i];
		uint8_t yes = 1;

		if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.filter_pids), &pid,
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

static int add_ring(struct sampler *s, int cpu)
{
	int outer = bpf_map__fd(s->skel->maps.rings);
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "weft_ring", 0, 0, s->ring_bytes,
				NULL);

	if (fd < 0) {
		fail_errno(-errno, "no ring buffer for CPU %d", cpu);
		return fail_hint(-errno, "raise the limit of locked memory (ulimit -l)");
	}
	s->ring_fds[cpu] = fd;
	if (bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY))
		return fail_errno(-errno, "cannot set the ring of CPU %d", cpu);
	if (s->rings)
		return ring_buffer__add(s->rings, fd, on_sample, s)
			       ? fail_errno(-errno, "cannot map the ring of CPU %d", cpu)
			       : 0;
	s->rings = ring_buffer__new(fd, on_sample, s, NULL);
	return s->rings ? 0 : fail_errno(-errno, "cannot map the ring of CPU %d", cpu);
}

static int tick_program(const struct sampler *s)
{
	return bpf_program__fd(s->skel->progs.oncpu_tick);
}

static int add_cpu(struct sampler *s, int cpu)
{
	int err = s->ring_fds[cpu] < 0 ? add_ring(s, cpu) : 0;

	if (!err)
		err = sideband_add_cpu(s->sideband, cpu, s->epoll_fd);
	return err ? err : ticks_add_cpu(&s->ticks, cpu, tick_program(s));
}

static int add_online_cpus(struct sampler *s)
{
	AUTO_FREE bool *online = calloc((size_t)s->n_cpus, sizeof(*online));
	int err = online ? cpus_online(online, s->n_cpus) : fail(-ENOMEM, "no memory");

	for (int cpu = 0; !err && cpu < s->n_cpus; cpu++)
		if (online[cpu])
			err = add_cpu(s, cpu);
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
	s->fork_link = bpf_program__attach(s->skel->progs.process_fork);
	if (!s->fork_link)
		return fail_errno(-errno, "cannot watch forks");
	s->exec_link = bpf_program__attach(s->skel->progs.process_exec);
	if (!s->exec_link)
		return fail_errno(-errno, "cannot watch execs");
	s->free_link = bpf_program__attach(s->skel->progs.process_free);
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
	s->epoll_fd = -1;
	s->ring_bytes = ring_size(config->hz);
	s->n_cpus = cpus_possible();
	if (s->n_cpus <= 0 || s->n_cpus > CPUS_MAX)
		return fail(-ENOSYS, "cannot find out the number of CPUs");
	s->ring_fds = new_fds(s->n_cpus);
	if (!s->ring_fds)
		return fail(-ENOMEM, "no memory for %d CPUs", s->n_cpus);

	err = ticks_begin(&s->ticks, config->event, config->hz, s->n_cpus);
	if (!err)
		err = load(s, config);
	if (!err)
		find_orc_tables(s);
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
	sideband_free(s->sideband);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	weft_bpf__destroy(s->skel);
	free(s);
}

int sampler_start(struct sampler *s)
{
	return ticks_start(&s->ticks);
}

int sampler_stop(struct sampler *s)
{
	return ticks_stop(&s->ticks);
}

int sampler_set_hz(struct sampler *s, unsigned int hz, uint64_t *ret_since_ns)
{
	int err = ticks_stop(&s->ticks);

	if (!err)
		err = ticks_set_hz(&s->ticks, hz, tick_program(s));
	if (err)
		return err;
	s->skel->bss->tick_ns = ticks_period_ns(hz);
	*ret_since_ns = clock_now_ns();
	return ticks_start(&s->ticks);
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
	s->unwatched = true;
}

static int take_up_cpu(struct sampler *s, int cpu)
{
	int err = add_cpu(s, cpu);

	s->unwatched = true;
	if (err != -ENODEV)
		return err;
	error_clear(); /* gone again already: next time */
	return 0;
}

int sampler_check_cpus(struct sampler *s)
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

bool sampler_was_unwatched(struct sampler *s)
{
	bool was = s->unwatched;

	s->unwatched = false;
	return was;
}

uint64_t sampler_kernel_bytes(const struct sampler *s)
{
	uint64_t sum =
		kernel_memory_of_object(s->skel->obj) + sideband_bytes(s->sideband);

	for (int cpu = 0; cpu < s->n_cpus; cpu++)
		if (s->ring_fds[cpu] >= 0)
			sum += kernel_memory_of(s->ring_fds[cpu]);
	return sum;
}

struct publish_maps sampler_publish_maps(const struct sampler *s)
{
	return (struct publish_maps){
		.processes = bpf_map__fd(s->skel->maps.processes),
		.publications = s->skel->bss->publications,
		.pages = bpf_map__fd(s->skel->maps.unwind_pages),
		.files = bpf_map__fd(s->skel->maps.unwind_files),
		.hotspots = bpf_map__fd(s->skel->maps.hotspots),
		.n_pages = bpf_map__max_entries(s->skel->maps.unwind_pages),
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
		if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.ledgers), &hook, all))
			return fail_errno(-errno, "cannot read the ledger");
		for (int cpu = 0; cpu < s->n_cpus; cpu++)
			ledger_add(&totals.ledgers[hook], &all[cpu]);
	}
	*ret = totals;
	return 0;
}
