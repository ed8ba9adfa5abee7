// SPDX-License-Identifier: BSD-2-Clause
#include "record/window_profile.h"

#include "record/run_info.h"
#include "record/unproven.h"
#include "sym/return_check.h"

#include <elf.h>
#include <stdio.h>

/* How long the names of all files may take that are not root's. Those of the machine are
 * anybody's, who does not decide when a recording ends; of a million functions they
 * took less than 0.1 s. Who wants source lines waits for them: a compiler's take 2 s. */
#define OTHERS_NAMES_MS 600
#define WANTED_NAMES_MS 8000

_Static_assert(RECORD_SYMFS_BYTES == DEBUG_SYMFS_BYTES, "what is given is taken");

static struct aggregator *aggregator_of(const struct window_profile *profile)
{
	return window_aggregator(profile->window->window);
}

static void build_id_text(void *arg, uint32_t module, char *out, size_t room)
{
	const struct window_profile *profile = arg;
	const struct elf_info *info = files_elf_info(profile->recording->files, module);

	for (uint32_t i = 0; info && i < info->build_id_bytes && 2 * i + 2 < room; i++)
		sprintf(out + 2 * i, "%02x", info->build_id[i]);
}

static uint64_t bias(void *arg, uint32_t module)
{
	const struct window_profile *profile = arg;
	const struct elf_info *info = files_elf_info(profile->recording->files, module);
	uint64_t ret = 0;

	for (uint32_t i = 0; info && i < info->n_segments; i++) {
		const struct elf_segment *segment = &info->segments[i];
		uint64_t here = segment->vaddr - segment->offset + 1;

		if (!(segment->flags & PF_X))
			continue;
		if (ret && here != ret)
			return 0;
		ret = here;
	}
	return ret;
}

static const char *cgroup_text(void *arg, uint32_t process)
{
	const struct window_profile *profile = arg;

	return cgroups_of(profile->window->cgroups, process);
}

int window_profile_begin(struct window_profile *profile,
			 const struct recording *recording,
			 const struct recorded_window *window, uint64_t begun_ns)
{
	struct aggregator *aggregator = window_aggregator(window->window);
	const struct stats stats = { .hz = window->hz, .event = recording->event };
	struct profile_sources sources = { .arg = profile,
					   .build_id = build_id_text,
					   .bias = bias,
					   .cgroup = cgroup_text,
					   .processes = pipeline_processes(
						   recording->pipeline),
					   .no_labels = recording->options->no_labels,
					   .all_modules = true };
	int err;

	profile->recording = recording;
	profile->window = window;
	err = profile_builder_new(&profile->builder, aggregator,
				  pipeline_modules(recording->pipeline));
	if (err)
		return err;
	err = run_info_begin(profile_builder_profile(profile->builder), &stats,
			     aggregator->unix_offset_ns + begun_ns, &sources.host);
	profile_builder_set_sources(profile->builder, &sources);
	return err;
}

void window_profile_end(struct window_profile *profile)
{
	profile_builder_free(profile->builder);
	profile->builder = NULL;
}

static int list_kernel_symbols(void *ksyms, const uint64_t *addrs, size_t n)
{
	return ksyms_list(ksyms, addrs, n);
}

static int others_ms(const struct recording *r)
{
	return recording_is_of_some(r) || r->options->inlines ? WANTED_NAMES_MS
							      : OTHERS_NAMES_MS;
}

struct symbol_sources window_profile_sources(const struct window_profile *profile)
{
	const struct recording *r = profile->recording;

	return (struct symbol_sources){
		.modules = pipeline_modules(r->pipeline),
		.processes = pipeline_processes(r->pipeline),
		.files = r->files,
		.worker = r->worker,
		.jitdumps = r->jitdumps,
		.perf_maps = r->perf_maps,
		.jvm_names = r->jvm_names,
		.opener = r->opener,
		.kernel_symbols = list_kernel_symbols,
		.kernel_symbols_arg = r->ksyms,
		.symfs = r->options->symfs,
		.servers = r->servers,
		.inlines = r->options->inlines,
		.others_ms = others_ms(r),
	};
}

int window_profile_check(const struct window_profile *profile, struct names *names,
			 struct stats *stats)
{
	const struct recording *r = profile->recording;
	const struct module_table *modules = pipeline_modules(r->pipeline);
	int err =
		keyless_count(&stats->keyless, aggregator_of(profile), modules, r->files);

	return err ? err
		   : return_check(names, aggregator_of(profile),
				  &(struct return_sources){ modules, r->files,
							    profile->verdicts },
				  &stats->returns_unread);
}

static void add_worker(struct worker_counts *sum, const struct worker_counts *more)
{
	sum->requests += more->requests;
	sum->failed += more->failed;
	sum->restarts += more->restarts;
}

static void collect_stats(const struct window_profile *profile, struct stats *stats)
{
	const struct recording *r = profile->recording;
	uint64_t first = pipeline_first_sample_ns(r->pipeline);

	stats->hz = profile->window->hz;
	stats->event = r->event;
	stats->first_sample_ns = first ? first - r->begun_ns : 0;
	stats->aggregator = aggregator_of(profile);
	stats->processes = profile->window->processes;
	stats->files = *files_counts(r->files);
	stats->jitdumps = jitdumps_counts(r->jitdumps);
	stats->worker = *worker_counts(r->worker);
	stats->opener = opener_counts(r->opener);
	if (r->servers)
		stats->debuginfod = debug_servers_counts(r->servers);
	if (r->large_file_worker)
		add_worker(&stats->worker, worker_counts(r->large_file_worker));
	publisher_count(r->publisher, &stats->publisher);
	stats_check(stats);
}

int window_profile_finish(struct window_profile *profile, const struct names *names,
			  struct stats *stats)
{
	struct profile *built = profile_builder_profile(profile->builder);
	const struct name_ledger_source source = {
		aggregator_of(profile), pipeline_modules(profile->recording->pipeline),
		names, built, profile->recording->files
	};
	int err = profile_builder_finish(profile->builder, names);

	if (!err)
		err = name_ledger_count(&stats->names, &source);
	if (!err)
		err = unproven_count_generated(&source, &stats->unproven_generated);
	if (!err)
		err = cut_generated_count(&stats->cut_generated, &source);
	if (err)
		return err;
	stats->names.has_servers = profile->recording->options->debuginfod;
	stats_count_views(stats, built, profile->recording->options->view);
	collect_stats(profile, stats);
	return run_info_end(built, stats);
}
