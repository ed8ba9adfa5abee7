// SPDX-License-Identifier: BSD-2-Clause
#include "record/record.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "record/cgroups.h"
#include "record/facts.h"
#include "pipeline/gather.h"
#include "record/output.h"
#include "record/recording.h"
#include "pipeline/saving.h"
#include "sym/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The reader's own pace; a ring that fills, or a mapping, wakes it sooner. */
#define PUMP_MS	  50
#define SOON_MS	  1
#define END_MS	  300 /* for a command that was interrupted with us */
#define SECOND_NS 1000000000ULL

struct run {
	struct recording *recording;
	const struct record_options *options;
	struct signals signals;
	bool stop;
	bool outlived; /* all whom it was about */
	bool progress; /* stderr is a terminal */
	uint64_t next_second_ns;
	struct cgroups *cgroups;
	struct gather *gather;
	struct saving *saving; /* NULL: the output is made at the end */
};

static void show_progress(const struct run *run, uint64_t now)
{
	const struct recording *r = run->recording;
	struct sampler_totals totals;
	unsigned long long kept;

	if (!run->progress || sampler_totals(r->sampler, &totals))
		return;
	kept = totals.ledger.outcomes[OUTCOME_KEPT];
	fprintf(stderr, "\r%4.0f s  %llu samples  %.0f a second  %llu lost ",
		(double)(now - r->started_ns) / SECOND_NS, kept,
		(double)kept * SECOND_NS / (double)(now - r->started_ns),
		totals.ledger.outcomes[OUTCOME_RING_FULL] +
			totals.ledger.outcomes[OUTCOME_NO_RING]);
	if (run->saving)
		fprintf(stderr, " %.1f KB ", (double)saving_bytes(run->saving) / 1024);
}

static int every_second(struct run *run, uint64_t now)
{
	int err = 0;

	if (now < run->next_second_ns)
		return 0;
	run->next_second_ns = now + SECOND_NS;
	if (run->saving)
		err = saving_more(run->saving);
	show_progress(run, now);
	return err ? err : sampler_check_cpus(run->recording->sampler);
}

static bool is_over(struct run *run, uint64_t now)
{
	struct recording *r = run->recording;

	if (run->options->duration_ns && now - r->started_ns >= run->options->duration_ns)
		return true;
	if (run->options->command && command_poll(&r->command))
		return true;
	run->outlived = targets_have_ended(&r->targets);
	return run->stop || run->outlived;
}

static int time_left_ms(const struct run *run, uint64_t now)
{
	uint64_t end = run->recording->started_ns + run->options->duration_ns;
	int pace = publisher_is_unsure(run->recording->publisher) ? SOON_MS : PUMP_MS;

	if (!run->options->duration_ns || end - now > (uint64_t)pace * 1000000)
		return pace;
	return (int)((end - now) / 1000000) + 1;
}

static int loop(struct run *run)
{
	struct recording *r = run->recording;
	uint64_t now = clock_now_ns();
	int err = 0;

	while (!err && !is_over(run, now)) {
		struct pollfd fds[] = {
			{ .fd = sampler_fd(r->sampler), .events = POLLIN },
			{ .fd = worker_fd(r->worker), .events = POLLIN },
			{ .fd = r->heavy ? worker_fd(r->heavy) : -1, .events = POLLIN },
			{ .fd = run->signals.fd, .events = POLLIN },
		};

		if (poll(fds, 4, time_left_ms(run, now)) < 0 && errno != EINTR)
			return fail_errno(-errno, "poll");
		run->stop |= signals_say_stop(&run->signals);
		err = recording_pump(r);
		if (!err)
			err = cgroups_look(run->cgroups, pipeline_profile(r->pipeline),
					   pipeline_processes(r->pipeline));
		now = clock_now_ns();
		if (!err)
			err = every_second(run, now);
	}
	return err;
}

static int start(struct run *run)
{
	struct recording *r = run->recording;
	int err = sampler_start(r->sampler);

	r->started_ns = clock_now_ns();
	publisher_started(r->publisher, r->started_ns);
	if (!err && run->options->command)
		err = command_go(&r->command, run->options->command[0]);
	return err;
}

static void add_worker(struct worker_counts *sum, const struct worker_counts *more)
{
	sum->requests += more->requests;
	sum->failed += more->failed;
	sum->restarts += more->restarts;
}

static void collect_stats(const struct recording *r, struct stats *stats)
{
	uint64_t first = pipeline_first_sample_ns(r->pipeline);

	stats->hz = r->options->hz;
	stats->event = r->event;
	stats->duration_ns = r->stopped_ns - r->started_ns;
	stats->first_sample_ns = first ? first - r->begun_ns : 0;
	stats->profile = pipeline_profile(r->pipeline);
	stats->processes = *process_counts(pipeline_processes(r->pipeline));
	stats->files = *files_counts(r->files);
	stats->worker = *worker_counts(r->worker);
	if (r->heavy)
		add_worker(&stats->worker, worker_counts(r->heavy));
	publisher_count(r->publisher, &stats->published);
}

static int write_tape(struct recording *r, const struct names *names,
		      const struct stats *stats)
{
	static const enum tape_item items[N_UNCALLED] = {
		[MISTAKEN] = TAPE_UNCALLED,
		[MADE] = TAPE_MADE,
		[SWITCHES] = TAPE_SWITCHES,
	};
	uint64_t totals[TAPE_TOTALS_MAX];
	size_t n = stats_to_tape(stats, totals);
	size_t frames = intern_count(pipeline_profile(r->pipeline)->frames);

	for (uint32_t id = 0; id < frames; id++) {
		const char *name = names_get(names, id);

		if (name)
			tape_write_name(r->tape, id, name);
		if (names_uncalled(names, id))
			tape_write(r->tape, items[names_uncalled(names, id)], &id,
				   sizeof(id));
	}
	tape_write(r->tape, TAPE_TOTALS, totals, n * sizeof(*totals));
	return tape_writer_finish(r->tape);
}

/* A tape is written whatever became of the rest, which can be made from it. */
static int finish_tape(struct recording *r, const struct names *names,
		       const struct stats *stats, int err)
{
	char why[512];
	int tape_err;

	snprintf(why, sizeof(why), "%s", error_sentence());
	tape_err = write_tape(r, names, stats);
	if (err && tape_err)
		return fail(err, "%s; nor was the tape written", why);
	return err ? err : tape_err;
}

static int find_names(struct recording *r, struct names *names, struct stats *stats)
{
	struct profile *profile = pipeline_profile(r->pipeline);
	struct module_table *modules = pipeline_modules(r->pipeline);
	const struct symbol_sources sources = {
		.modules = modules,
		.processes = pipeline_processes(r->pipeline),
		.files = r->files,
		.worker = r->worker,
		.inlines = r->options->inlines,
	};
	int err = symbolize(names, profile, &sources, &stats->symbols);

	if (!err)
		err = keyless_count(&stats->keyless, profile, modules, r->files);
	return err ? err : calls_check(names, profile, modules, r->files);
}

static int write_output(struct run *run, const struct output *output, struct stats *stats)
{
	struct recording *r = run->recording;
	struct reading *reading = gather_reading(run->gather);
	int err;

	output_views(output, reading, stats);
	collect_stats(r, stats);
	stats_check(stats);
	err = facts_end(reading, stats);
	if (err)
		return err;
	return run->saving ? saving_finish(run->saving) : output_reading(output, reading);
}

static int finish(struct run *run)
{
	struct recording *r = run->recording;
	const struct output output = { r->options->output, r->options->stats_json,
				       r->options->writer, r->options->view,
				       r->options->quiet };
	AUTO(names) names = NULL;
	struct stats stats = { 0 };
	int err = names_new(&names);

	if (!err)
		err = sampler_totals(r->sampler, &stats.totals);
	if (!err)
		err = find_names(r, names, &stats);
	if (!err)
		err = gather_finish(run->gather, names);
	if (err)
		return err;
	err = write_output(run, &output, &stats);
	stats.finish_ns = clock_now_ns() - r->stopped_ns;
	if (!err)
		err = output_stats(&output, &stats);
	return r->tape ? finish_tape(r, names, &stats, err) : err;
}

static void say_why_it_ended(const struct run *run)
{
	char text[64];

	if (run->progress)
		fputs("\r\033[K", stderr);
	if (run->outlived && !run->options->quiet)
		log_warn("%s: so does the recording",
			 targets_end_text(&run->recording->targets, text, sizeof(text)));
}

/* What we exit with. A Ctrl-C ends most commands, too, if a moment later. */
static int commands_status(const struct run *run)
{
	struct command *command = &run->recording->command;

	if (command->pid <= 0)
		return 0;
	for (int ms = 0; run->stop && !command_poll(command) && ms < END_MS; ms++)
		usleep(1000);
	if (command_poll(command))
		return command->exit_status;
	if (!run->options->quiet)
		log_warn("%s goes on as process %d", run->options->command[0],
			 (int)command->pid);
	return 0;
}

static int run_it(struct run *run)
{
	struct recording *r = run->recording;
	int err = start(run);

	if (!err)
		err = loop(run);
	if (!err)
		err = sampler_stop(r->sampler);
	r->stopped_ns = clock_now_ns();
	signals_let_go();
	say_why_it_ended(run);
	if (!err)
		err = recording_drain(r);
	if (!err)
		err = finish(run);
	return err ? err : commands_status(run);
}

static void build_id_text(void *arg, uint32_t module, char *out, size_t room)
{
	const struct run *run = arg;
	const struct elf_facts *facts = files_facts(run->recording->files, module);

	for (uint32_t i = 0; facts && i < facts->build_id_bytes && 2 * i + 2 < room; i++)
		sprintf(out + 2 * i, "%02x", facts->build_id[i]);
}

static const char *cgroup_text(void *arg, uint32_t process)
{
	const struct run *run = arg;

	return cgroups_of(run->cgroups, process);
}

/* What the samples are gathered into, and where it is saved meanwhile. */
static int prepare(struct run *run)
{
	struct recording *r = run->recording;
	struct profile *profile = pipeline_profile(r->pipeline);
	const struct stats stats = { .hz = run->options->hz, .event = r->event };
	struct gather_sources sources = { .arg = run,
					  .build_id = build_id_text,
					  .cgroup = cgroup_text,
					  .no_labels = run->options->no_labels };
	int err = cgroups_new(&run->cgroups);

	if (!err)
		err = gather_new(&run->gather, profile, pipeline_modules(r->pipeline));
	if (err)
		return err;
	profile->unix_offset_ns = facts_unix_offset_ns();
	err = facts_begin(gather_reading(run->gather), &stats,
			  profile->unix_offset_ns + clock_now_ns(), &sources.host);
	gather_ask(run->gather, &sources);
	if (!err && run->options->writer == &weft_writer)
		err = saving_new(&run->saving, run->options->output, run->gather,
				 profile);
	return err;
}

int record_run(const struct record_options *options)
{
	AUTO(recording) recording = NULL;
	struct run run = { .options = options };
	int err = signals_take(&run.signals);

	if (!err)
		err = recording_new(&recording, options, &run.signals);
	if (err)
		return err;
	run.recording = recording;
	run.progress = !options->quiet && isatty(STDERR_FILENO);
	err = prepare(&run);
	if (!err)
		err = run_it(&run);
	saving_free(run.saving);
	gather_free(run.gather);
	cgroups_free(run.cgroups);
	signals_close(&run.signals);
	return err;
}
