// SPDX-License-Identifier: BSD-2-Clause
#include "record/sampling.h"

#include "base/error.h"
#include "kern/cpus.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A cgroup's id is its inode. */
static int find_cgroup(const char *path, struct knobs *knobs)
{
	struct stat st;

	if (stat(path, &st))
		return fail_errno(-errno, "cannot read the cgroup %s", path);
	knobs->cgroup_id = st.st_ino;
	return 0;
}

/* Of a tick, before it is known who runs. A command's first samples shall be whole,
 * whatever it will turn out to be; and a walk without tables waits for nobody. */
static unsigned int parts_at_once(const struct record_options *options)
{
	if (options->command)
		return PARTS_ALL;
	return options->unwind == UNWIND_FP ? PART_CHAINS : 0;
}

static int make_knobs(const struct record_options *options, struct knobs *knobs)
{
	*knobs = (struct knobs){
		.parts = parts_at_once(options),
		.max_frames = options->max_frames,
		.faults = options->faults,
		.timed = options->timed,
		.trace_ids = options->trace_ids,
		.attributes = options->declared.attributes != NULL,
	};
	if (options->tgids.n || options->command)
		knobs->filters |= FILTER_TGID;
	if (options->tids.n)
		knobs->filters |= FILTER_TID;
	if (options->kernel_only)
		knobs->filters |= FILTER_KERNEL_ONLY;
	if (options->user_only)
		knobs->filters |= FILTER_USER_ONLY;
	if (options->comm) {
		knobs->filters |= FILTER_COMM;
		strncpy(knobs->comm, options->comm, sizeof(knobs->comm) - 1);
	}
	if (!options->cgroup)
		return 0;
	knobs->filters |= FILTER_CGROUP;
	return find_cgroup(options->cgroup, knobs);
}

static int choose_event(const char *name, enum tick_event *ret)
{
	*ret = TICK_CPU_CLOCK;
	if (name && !strcmp(name, "cpu-clock"))
		return 0;
	if (cycles_work()) {
		*ret = TICK_CYCLES;
		return 0;
	}
	if (!name)
		return 0;
	fail(-EOPNOTSUPP, "this machine can't count cycles");
	return fail_hint(-EOPNOTSUPP, "use --event cpu-clock");
}

static uint32_t table_slabs(const struct record_options *options)
{
	return options->unwind_mb * ((1u << 20) / UNWIND_PAGE_BYTES / UNWIND_SLAB_PAGES);
}

uint64_t sampling_kernel_bytes_default(void)
{
	return (80u << 20) + (uint64_t)cpus_possible() * (512u << 10);
}

int sampling_check_kernel_bytes(const struct record_options *options)
{
	uint64_t most = options->kernel_bytes_max, least;
	int err;

	if (most >= sampling_kernel_bytes_default())
		return 0;
	err = sampler_kernel_bytes_min(options->hz, &least);
	if (err || most >= least)
		return err;
	fail(-EINVAL, "--kernel-memory-budget: weft needs %.1f MB on this machine",
	     (double)least / (1 << 20));
	return fail_hint(-EINVAL, "for its maps and its rings; unwind tables have what "
				  "is left of the budget");
}

int sampling_new(struct sampler **ret, const struct record_options *options,
		 pid_t command, enum tick_event *ret_event)
{
	pid_t pids[2 * FILTER_PIDS_MAX + 1];
	struct sampler_config config = {
		.hz = options->hz,
		.pids = pids,
		.n_pids = options->tgids.n + options->tids.n,
		.follow_forks = options->command,
		.table_slabs = options->unwind == UNWIND_FP ? 0 : table_slabs(options),
		.kernel_bytes_max = options->kernel_bytes_max,
	};
	int err = make_knobs(options, &config.knobs);

	memcpy(pids, options->tgids.pids, options->tgids.n * sizeof(*pids));
	memcpy(pids + options->tgids.n, options->tids.pids,
	       options->tids.n * sizeof(*pids));
	if (options->command)
		pids[config.n_pids++] = command;
	if (!err)
		err = choose_event(options->event, &config.event);
	*ret_event = config.event;
	return err ? err : sampler_new(ret, &config);
}
