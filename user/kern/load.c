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
#include <string.h>

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

/* All that there is for tables, of which the first slabs are made. */
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

static int load_once(struct weft_bpf **ret, struct page_slabs **slabs,
		     const struct sampler_config *config)
{
	AUTO_CLOSE int types_fd = -1;
	struct weft_bpf *skel = open_object(&types_fd);
	struct knobs *knobs;
	int err;

	*ret = skel;
	if (!skel)
		return -errno;
	knobs = (struct knobs *)&skel->rodata->knobs;
	*knobs = config->knobs;
	knobs->wakeup_bytes = load_ring_bytes(config->hz) / 4;
	arch_fill_knobs(knobs);
	bpf_program__set_autoload(skel->progs.orc_find_tables, knobs->orc);

	skel->bss->tick_ns = ticks_period_ns(config->hz);
	knobs->follow_forks = config->follow_forks;
	knobs->tables = config->table_slabs > 0;

	err = bpf_map__set_max_entries(skel->maps.rings, (unsigned int)cpus_possible());
	if (!err && knobs->tables)
		err = make_slabs(slabs, skel, config);
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

/* A signal that comes during verification makes the kernel give up. */
int load_object(struct weft_bpf **ret, struct page_slabs **slabs,
		const struct sampler_config *config)
{
	int err = -EAGAIN;

	libbpf_set_print(on_libbpf_print);
	for (int tries = 0; err == -EAGAIN && tries < LOAD_TRIES; tries++) {
		weft_bpf__destroy(*ret);
		err = load_once(ret, slabs, config);
	}
	if (err)
		return load_failed(err);
	find_orc_tables(*ret);
	return *slabs ? page_slabs_begin(*slabs, bpf_map__fd((*ret)->maps.unwind_slabs))
		      : 0;
}
