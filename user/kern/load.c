// SPDX-License-Identifier: BSD-2-Clause
#include "kern/load.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "kern/arch.h"
#include "kern/cpus.h"
#include "kern/kernel_memory.h"
#include "kern/kernel_types.h"
#include "kern/page_slabs.h"
#include "kern/ticks.h"
#include "shared/orc.h"

#include "weft.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES_MIN (64u << 10)
#define RING_BYTES_MAX (16u << 20)
#define SAMPLE_BYTES   4096 /* of a deep stack */
#define LOAD_TRIES     10

#define SLAB_BYTES (UNWIND_SLAB_PAGES * UNWIND_PAGE_BYTES)

/* Room for a quarter of a second: the reader comes by every 50 ms. */
unsigned int load_ring_bytes(unsigned int hz)
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

/* Of the kernel's types the few that the object names. Who has no memory for those has
 * none for all of them, of which libbpf says that there are none. */
static int find_types(struct kernel_half *half)
{
	size_t bytes;
	const void *object = weft_bpf__elf_bytes(&bytes);
	int err = kernel_types_file(object, bytes, half->types_path, &half->types_fd);

	if (!err || err == -ENOMEM)
		return err;
	log_verbose("%s", error_sentence());
	error_clear();
	return 0;
}

/* With all of the kernel's types where those few can't be had. */
static struct weft_bpf *open_object(const struct kernel_half *half)
{
	const struct bpf_object_open_opts options = {
		.sz = sizeof(options),
		.btf_custom_path = half->types_fd >= 0 ? half->types_path : NULL,
	};

	return weft_bpf__open_opts(&options);
}

/* Of pages: what was asked for, or what others leave of the budget. */
static uint32_t slabs_due(const struct weft_bpf *skel,
			  const struct sampler_config *config)
{
	uint64_t due, most = config->kernel_bytes_max;

	if (!most)
		return config->table_slabs;
	due = kernel_memory_due(skel->obj, load_ring_bytes(config->hz), cpus_possible());
	most = most > due ? (most - due) / SLAB_BYTES : 0;
	if (!most) /* tables have as much, however little a budget leaves */
		most = 1;
	return most < config->table_slabs ? (uint32_t)most : config->table_slabs;
}

int sampler_kernel_bytes_min(unsigned int hz, uint64_t *ret)
{
	struct weft_bpf *skel = weft_bpf__open();

	if (!skel)
		return fail_errno(-errno, "weft's BPF object can't be read");
	*ret = kernel_memory_due(skel->obj, load_ring_bytes(hz), cpus_possible()) +
	       SLAB_BYTES;
	weft_bpf__destroy(skel);
	return 0;
}

/* All that there is for tables, of which the first slab is made. */
static int make_slabs(struct page_slabs **slabs, struct weft_bpf *skel,
		      const struct sampler_config *config)
{
	uint32_t most = slabs_due(skel, config);
	int err = *slabs ? 0
			 : page_slabs_new(slabs, most, config->knobs.faults & FEW_SLABS);

	if (!err)
		err = bpf_map__set_inner_map_fd(skel->maps.unwind_slabs,
						page_slabs_model(*slabs));
	return err ? err : bpf_map__set_max_entries(skel->maps.unwind_slabs, most);
}

/* Few machines have as many processes and files as there is room for. Kernels before 6.1
 * let programs of perf events look only into maps that have all of it from the start. Not
 * filter_pids: whom no memory is had for, user space would not know of. */
static int grow_as_needed(const struct weft_bpf *skel)
{
	int err;

	if (!arch_kernel_is_since(6, 1))
		return 0;
	err = bpf_map__set_map_flags(skel->maps.processes, BPF_F_NO_PREALLOC);
	if (!err)
		err = bpf_map__set_map_flags(skel->maps.lives, BPF_F_NO_PREALLOC);
	return err ? err
		   : bpf_map__set_map_flags(skel->maps.unwind_files, BPF_F_NO_PREALLOC);
}

uint64_t load_growing_bytes(const struct kernel_half *half)
{
	return kernel_memory_of(bpf_map__fd(half->skel->maps.processes)) +
	       kernel_memory_of(bpf_map__fd(half->skel->maps.lives)) +
	       kernel_memory_of(bpf_map__fd(half->skel->maps.unwind_files));
}

static int load_once(struct kernel_half *half, const struct sampler_config *config)
{
	struct weft_bpf *skel = open_object(half);
	struct knobs *knobs;
	int err;

	half->skel = skel;
	if (!skel)
		return -errno;
	knobs = (struct knobs *)&skel->rodata->knobs;
	*knobs = config->knobs;
	knobs->wakeup_bytes = load_ring_bytes(config->hz) / 4;
	arch_fill_knobs(knobs);
	bpf_program__set_autoload(skel->progs.oncpu_tick, false);
	bpf_program__set_autoload(skel->progs.orc_find_tables, knobs->orc);

	skel->bss->tick_ns = ticks_period_ns(config->hz);
	knobs->follow_forks = config->follow_forks;
	knobs->tables = config->table_slabs > 0;

	err = bpf_map__set_max_entries(skel->maps.rings, (unsigned int)cpus_possible());
	if (!err)
		err = grow_as_needed(skel);
	if (!err && knobs->tables)
		err = make_slabs(&half->slabs, skel, config);
	if (!err && config->follow_forks)
		err = bpf_map__set_max_entries(skel->maps.filter_pids, FAMILY_MAX);
	return err ? err : weft_bpf__load(skel);
}

/* Without them the kernel's helper is asked for each of its stacks. */
static void find_orc_tables(const struct weft_bpf *skel)
{
	struct bpf_test_run_opts run = { .sz = sizeof(run) };
	int fd = bpf_program__fd(skel->progs.orc_find_tables);

	if (skel->rodata->knobs.orc && bpf_prog_test_run_opts(fd, &run))
		log_verbose("the kernel's unwind tables can't be looked for: %s",
			    strerror(errno));
	if (!skel->bss->orc_tables.n)
		log_verbose("the kernel is asked for its stacks: it has no unwind tables "
			    "of a format that weft knows");
}

static int begin_slabs(const struct kernel_half *half)
{
	return half->slabs ? page_slabs_begin(half->slabs,
					      bpf_map__fd(half->skel->maps.unwind_slabs))
			   : 0;
}

/* A signal that comes during verification makes the kernel give up. */
int load_object(struct kernel_half *half, const struct sampler_config *config)
{
	int err = -EAGAIN;

	libbpf_set_print(on_libbpf_print);
	if (find_types(half))
		return load_failed(-ENOMEM);
	for (int tries = 0; err == -EAGAIN && tries < LOAD_TRIES; tries++) {
		weft_bpf__destroy(half->skel);
		err = load_once(half, config);
	}
	if (err)
		return load_failed(err);
	find_orc_tables(half->skel);
	return config->knobs.faults & FEW_SLABS ? begin_slabs(half) : 0;
}

/* All but the constants. */
static int share_maps(struct weft_bpf *skel, const struct weft_bpf *with)
{
	const struct bpf_map *same;
	struct bpf_map *map = NULL;
	int err = 0;

	while (!err && (map = bpf_object__next_map(skel->obj, map))) {
		same = bpf_object__find_map_by_name(with->obj, bpf_map__name(map));
		if (map != skel->maps.rodata)
			err = same ? bpf_map__reuse_fd(map, bpf_map__fd(same)) : -ENOENT;
	}
	return err;
}

static int load_tick_once(struct weft_bpf *skel, const struct kernel_half *half,
			  unsigned int parts)
{
	struct knobs *knobs = (struct knobs *)&skel->rodata->knobs;
	struct bpf_program *program = NULL;
	int err;

	*knobs = half->skel->rodata->knobs;
	knobs->parts = parts;
	while ((program = bpf_object__next_program(skel->obj, program)))
		bpf_program__set_autoload(program, program == skel->progs.oncpu_tick);
	err = share_maps(skel, half->skel);
	return err ? err : weft_bpf__load(skel);
}

/* What is known by now lies in slabs, which need not have been set one by one. */
int load_tick(int *ret_fd, const struct kernel_half *half, unsigned int parts)
{
	struct weft_bpf *skel = NULL;
	int err = begin_slabs(half);

	if (err)
		return err;
	err = -EAGAIN;

	for (int tries = 0; err == -EAGAIN && tries < LOAD_TRIES; tries++) {
		weft_bpf__destroy(skel);
		skel = open_object(half);
		err = skel ? load_tick_once(skel, half, parts) : -errno;
	}
	if (!err) {
		*ret_fd = fcntl(bpf_program__fd(skel->progs.oncpu_tick), F_DUPFD_CLOEXEC,
				0);
		if (*ret_fd < 0)
			err = -errno;
	}
	weft_bpf__destroy(skel);
	return err ? load_failed(err) : 0;
}

void load_free(struct kernel_half *half)
{
	weft_bpf__destroy(half->skel);
	page_slabs_free(half->slabs);
	if (half->types_fd >= 0)
		close(half->types_fd);
}
