// SPDX-License-Identifier: BSD-2-Clause
#include "record/recording.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "kern/arch.h"
#include "record/priority.h"
#include "record/recording_look.h"
#include "record/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* An event this old is in its ring for sure: it is written with interrupts or
 * preemption off, microseconds after it took its time. */
#define SETTLED_NS 2000000ULL

/* How long the worker may take at the end for the files that came late; the longer if
 * nobody waits for us: what is made then is in the cache the next time. But not for those
 * of anybody. */
#define LAST_SCAN_MS 200
#define CALM_SCAN_MS 2500

#define TRIM_PACE_NS	   100000000ULL
#define TRIM_FILES_PACE_NS SECOND_NS
#define TRIM_USUALLY_NS	   (10 * SECOND_NS)

/* To the tape as it came, and on. */
static int on_sample(void *arg, const void *record, size_t bytes)
{
	struct recording *r = arg;
	struct event_sink next = pipeline_input(r->pipeline);
	int err;

	if (r->tape)
		tape_write(r->tape, TAPE_SAMPLE, record, bytes);
	err = next.sample(next.arg, record, bytes);
	if (!err)
		publisher_on_sample(r->publisher, record);
	if (err != -EBADMSG)
		return err;
	/* of ours: the ledger, which it is missing in, says so */
	log_verbose("%s", error_sentence());
	error_clear();
	return 0;
}

static int on_sideband(void *arg, const void *record, size_t bytes)
{
	struct recording *r = arg;
	struct event_sink next = pipeline_input(r->pipeline);
	int err = publisher_enqueue(r->publisher, record, bytes);

	r->is_stirred = true;
	if (r->tape)
		tape_write(r->tape, TAPE_SIDEBAND, record, bytes);
	return err ? err : next.sideband(next.arg, record, bytes);
}

static int make_scope(struct recording *r)
{
	const struct pid_list *tgids = &r->options->tgids;
	int err = 0;

	r->filter.everyone = !tgids->n || r->options->tids.n;
	r->filter.next = (struct event_sink){ r, on_sample, on_sideband };
	for (unsigned int i = 0; !err && i < tgids->n; i++)
		err = sideband_filter_add(&r->filter, tgids->pids[i]);
	return err;
}

static void on_stale(void *arg, uint32_t tgid)
{
	struct recording *r = arg;

	r->is_stirred = true;
	publisher_on_stale(r->publisher, tgid);
}

static void on_awaited(void *arg, uint32_t tgid, uint64_t addr, uint64_t time_ns)
{
	struct recording *r = arg;

	r->is_stirred = true;
	if (publisher_on_awaited(r->publisher, tgid, addr, time_ns) &&
	    vec_push(&r->unread, tgid))
		error_clear(); /* it comes again */
}

static int on_counted(void *arg, const struct sample_rec *rec,
		      const struct process *process)
{
	struct recording *r = arg;

	return window_add(r->windows.open->window, rec, process);
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct recording *r = arg;

	if (r->jitdumps && jitdumps_mapped(r->jitdumps, process, map))
		error_clear(); /* its code has no names */
}

static void on_replaced(void *arg, uint32_t tgid, const struct replaced_place *place)
{
	const uint64_t numbers[] = { tgid, place->start, place->end, place->since_ns,
				     place->is_back };
	struct recording *r = arg;

	tape_write(r->tape, TAPE_REPLACED, numbers, sizeof(numbers));
}

static void on_settled(void *arg, uint32_t tgid, uint64_t now_ns)
{
	const uint64_t numbers[] = { tgid, now_ns };
	struct recording *r = arg;

	tape_write(r->tape, TAPE_SETTLED, numbers, sizeof(numbers));
}

static int new_parts(struct recording *r)
{
	struct pipeline_sink sink = { .process.arg = r,
				      .process.mapped = on_mapped,
				      .sample = on_counted,
				      .stale = on_stale,
				      .awaited = on_awaited };
	struct publisher_config config = {
		.maps = sampler_publish_maps(r->sampler),
		.worker = r->worker,
		.opener = r->opener,
		.large_file_worker = r->large_file_worker,
		.cache = r->cache,
		.command = r->command.pid,
		.tables = r->options->unwind != UNWIND_FP,
		.all_by_table = r->options->unwind == UNWIND_TABLE,
	};
	int err = pipeline_new(&r->pipeline, &sink);

	if (err)
		return err;
	config.modules = pipeline_modules(r->pipeline);
	config.replaced = pipeline_replaced(r->pipeline);
	err = windows_begin(&r->windows, config.modules, pipeline_processes(r->pipeline),
			    r->options->hz);
	if (err)
		return err;
	err = publisher_new(&r->publisher, &config);
	if (err)
		return err;
	r->files = publisher_files(r->publisher);
	err = jitdumps_new(&r->jitdumps, config.modules, r->files);
	if (!err)
		err = perf_maps_new(&r->perf_maps, config.modules, r->opener);
	if (!err)
		err = jvm_names_new(&r->jvm_names,
				    &(struct jvm_names_sources){ config.modules, r->files,
								 r->opener });
	if (!err)
		err = ksyms_new(&r->ksyms);
	if (err)
		return err;
	if (r->options->tape)
		err = tape_writer_new(&r->tape, r->options->tape);
	if (r->tape)
		replaced_tell(config.replaced,
			      &(struct replaced_log){ r, on_replaced, on_settled });
	return err ? err : make_scope(r);
}

static int new_servers(struct recording *r)
{
	const struct debug_servers_config config = {
		.urls = r->options->debuginfod,
		.cache = r->options->unwind_cache,
		.progress = r->options->progress,
		.is_later = r->options->debuginfod_later,
	};
	int err = debug_servers_new(&r->servers, &config);

	if (!err || err == -ENOMEM)
		return err;
	log_warn("no server is asked for debug files: %s", error_sentence());
	error_clear();
	return 0;
}

int recording_new(struct recording **ret, const struct record_options *options,
		  const struct signals *signals)
{
	AUTO(recording) r = calloc(1, sizeof(*r));
	struct command_before before = { .signals = signals };
	int err;

	if (!r)
		return fail(-ENOMEM, "no memory for the recording");
	r->options = options;
	r->begun_ns = clock_now_ns();
	r->nice = before.nice = priority_raise(); /* before the worker is forked */
	err = worker_new(&r->worker);
	if (!err)
		err = opener_new(&r->opener);
	if (!err)
		watched_pids_begin(&r->watched, r->opener, &options->tgids,
				   &options->tids);
	if (!err && declared_is_wanted(&options->declared))
		err = declared_new(&r->declared, &options->declared);
	if (!err && options->unwind != UNWIND_FP)
		err = worker_new(&r->large_file_worker);
	if (!err && r->large_file_worker)
		worker_be_patient(r->large_file_worker);
	if (!err && options->debuginfod)
		err = new_servers(r);
	if (!err && options->command)
		err = command_new(&r->command, options->command, &before);
	if (!err)
		err = sampling_new(&r->sampler, options, r->command.pid, &r->event);
	if (!err && options->unwind != UNWIND_FP)
		err = cache_new(&r->cache, options->unwind_cache);
	if (!err)
		err = new_parts(r);
	if (!err)
		err = recording_look_first(r);
	if (err)
		return err;
	*ret = GIVE(r);
	return 0;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	command_close(&r->command);
	tape_writer_free(r->tape);
	jitdumps_free(r->jitdumps);
	perf_maps_free(r->perf_maps);
	jvm_names_free(r->jvm_names);
	ksyms_free(r->ksyms);
	publisher_free(r->publisher);
	cache_free(r->cache);
	windows_end(&r->windows);
	pipeline_free(r->pipeline);
	sampler_free(r->sampler);
	worker_free(r->worker);
	worker_free(r->large_file_worker);
	opener_free(r->opener);
	declared_free(r->declared);
	debug_servers_free(r->servers);
	sideband_filter_free(&r->filter);
	vec_free(&r->unread);
	free(r);
}

static void tell_of_tables(const struct recording *r)
{
	struct publisher_counts counts;

	publisher_count(r->publisher, &counts);
	log_verbose("unwind tables: %lu built, %lu read from %s",
		    counts.tables.loader.made, counts.tables.loader.cache.hits,
		    r->cache ? cache_path(r->cache) : "no cache");
}

int recording_start(struct recording *r)
{
	int err = sampler_want_parts(r->sampler, publisher_parts(r->publisher));

	if (!err)
		err = sampler_start(r->sampler);
	r->started_ns = r->stirred_ns = clock_now_ns();
	r->ticks_find_files = arch_kernel_is_since(6, 1); /* bpf/vmas.bpf.c */
	publisher_started(r->publisher, r->started_ns);
	if (!err)
		tell_of_tables(r); /* it ticks */
	if (!err && r->options->command)
		err = command_go(&r->command, r->options->command[0]);
	return err;
}

int recording_stop(struct recording *r)
{
	int err = sampler_stop(r->sampler);

	r->stopped_ns = clock_now_ns();
	return err;
}

static void on_let_go(void *arg, uint32_t module)
{
	struct recording *r = arg;

	publisher_let_go(r->publisher, module);
}

/* Nobody waits for descriptors; but whoever removes a file or a file system does, for
 * as long as we hold it open. */
static uint64_t trim_pace_ns(const struct recording *r)
{
	if (module_table_is_crowded(pipeline_modules(r->pipeline)))
		return TRIM_PACE_NS;
	return files_are_many(r->files) ? TRIM_FILES_PACE_NS : TRIM_USUALLY_NS;
}

/* What no process maps and no window has met is let go before it becomes much. */
static int trim_modules(struct recording *r)
{
	struct module_table *modules = pipeline_modules(r->pipeline);
	struct module_counts counts;
	uint64_t now = clock_now_ns();
	int err;

	if (now - r->trimmed_ns < trim_pace_ns(r))
		return 0;
	r->trimmed_ns = now;
	process_mark_modules(pipeline_processes(r->pipeline));
	publisher_mark_modules(r->publisher);
	err = module_trim(modules, on_let_go, r);
	counts = module_counts(modules);
	log_verbose("%" PRIu64 " modules are needed, or were a moment ago; %" PRIu64
		    " were let go since the start",
		    counts.now, counts.let_go);
	return err;
}

/* What there is to know of those that were sampled, while they are there. */
static int look_at_sampled(struct recording *r, bool is_last)
{
	const struct recorded_window *open = r->windows.open;
	const struct aggregator *aggregator = window_aggregator(open->window);
	const struct process_table *processes = pipeline_processes(r->pipeline);
	int err = cgroups_look(open->cgroups, aggregator, processes);

	perf_maps_look(r->perf_maps, aggregator, processes);
	jvm_names_look(r->jvm_names, aggregator, processes, is_last);
	if (!err && r->declared)
		declared_look(r->declared, aggregator, processes);
	return err;
}

/* What it was told needs its time once for all that came at once. */
static void note_stir(struct recording *r)
{
	if (r->is_stirred)
		r->stirred_ns = clock_now_ns();
	r->is_stirred = false;
}

int recording_pump(struct recording *r)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	uint64_t horizon = clock_now_ns() - SETTLED_NS;
	const struct process_counts *counts =
		process_counts(pipeline_processes(r->pipeline));
	uint64_t lost = counts->lost;
	int err = sampler_read(r->sampler, &input);

	if (!err) /* at once: the ticks wait for it */
		err = publisher_flush(r->publisher, NULL);
	if (err >= 0)
		err = sampler_want_parts(r->sampler, publisher_parts(r->publisher));
	if (!err)
		err = recording_advance(r, horizon);
	if (!err)
		err = recording_look_again(r, counts->lost > lost);
	if (!err)
		err = recording_look_at_unread(r);
	if (!err)
		err = look_at_sampled(r, false);
	if (!err)
		err = trim_modules(r);
	if (r->servers)
		debug_servers_step(r->servers);
	note_stir(r);
	return err < 0 ? err : 0;
}

/* What is not there by then is of no use, and names would wait for it. */
static int wait_for_last_tables(struct recording *r, bool in_haste)
{
	const struct wait_limits limits = {
		.all_ms = recording_is_of_some(r) && !in_haste ? CALM_SCAN_MS
							       : LAST_SCAN_MS,
		.roots_ms = in_haste ? LAST_SCAN_MS : CALM_SCAN_MS,
	};
	int left = publisher_flush(r->publisher, &limits);

	worker_drop_scans(r->worker);
	if (r->large_file_worker)
		worker_drop_scans(r->large_file_worker);
	return left < 0 ? left : 0;
}

int recording_drain(struct recording *r, bool in_haste)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	int err = sampler_read(r->sampler, &input);

	opener_hurry(r->opener);
	if (!err) /* what the last samples were walked by is told by then */
		err = publisher_flush(r->publisher, NULL);
	if (err >= 0)
		err = recording_advance(r, UINT64_MAX);
	if (r->tape)
		tape_flush(r->tape);
	return err ? err : wait_for_last_tables(r, in_haste);
}

int recording_close_window(struct recording *r, bool is_last,
			   struct recorded_window **ret)
{
	struct sampler_totals totals;
	int err = look_at_sampled(r, true);

	if (!err)
		err = sampler_totals(r->sampler, &totals);
	if (!err)
		err = windows_close(&r->windows, &totals, is_last, ret);
	if (!err && r->declared)
		declared_next_window(r->declared, pipeline_processes(r->pipeline));
	/* earlier windows have had their names while this one was open */
	if (!err) {
		jitdumps_forget(r->jitdumps, (*ret)->begun_ns);
		perf_maps_forget(r->perf_maps, pipeline_processes(r->pipeline),
				 (*ret)->begun_ns);
		jvm_names_next_window(r->jvm_names, pipeline_processes(r->pipeline));
	}
	return err;
}

int recording_set_hz(struct recording *r, unsigned int hz, struct recorded_window **ret)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	uint64_t since_ns;
	int err = sampler_set_hz(r->sampler, hz, &since_ns);

	if (err)
		return err;
	r->windows.hz = hz;
	usleep(SETTLED_NS / 1000);
	err = sampler_read(r->sampler, &input);
	if (!err)
		err = recording_advance(r, since_ns);
	return err ? err : recording_close_window(r, false, ret);
}
