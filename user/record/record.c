// SPDX-License-Identifier: BSD-2-Clause
#include "record/record.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "record/output.h"
#include "record/recording.h"
#include "record/window_profile.h"
#include "pipeline/recording_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define END_MS 300 /* for a command that was interrupted with us */

struct run {
	struct recording *recording;
	const struct record_options *options;
	struct signals signals;
	bool stop;
	bool outlived; /* all whom it was about */
	uint64_t next_second_ns;
	struct window_profile profile;	/* of the one window that all of it is */
	struct recorded_window *closed; /* that window, once it is ours */
	struct recording_writer *recording_writer; /* NULL: all is written at the end */
	const struct output_file *streamed;	   /* what it writes */
};

static void show_progress(const struct run *run, uint64_t now)
{
	const struct recording *r = run->recording;
	struct sampler_totals totals;
	const struct ledger *oncpu;
	unsigned long long kept;
	char line[128];
	size_t n;

	if (!run->options->progress || sampler_totals(r->sampler, &totals))
		return;
	oncpu = &totals.ledgers[HOOK_ONCPU];
	kept = oncpu->outcomes[OUTCOME_KEPT];
	n = (size_t)snprintf(
		line, sizeof(line), "%4.0f s  %llu samples  %.0f per second  %llu lost ",
		(double)(now - r->started_ns) / SECOND_NS, kept,
		(double)kept * SECOND_NS / (double)(now - r->started_ns),
		oncpu->outcomes[OUTCOME_RING_FULL] + oncpu->outcomes[OUTCOME_NO_RING]);
	if (run->recording_writer && n < sizeof(line))
		snprintf(line + n, sizeof(line) - n, " %.1f KB ",
			 (double)recording_writer_bytes(run->recording_writer) / 1024);
	run->options->progress(line);
}

static int every_second(struct run *run, uint64_t now)
{
	int err = 0;

	if (now < run->next_second_ns)
		return 0;
	run->next_second_ns = now + SECOND_NS;
	if (run->recording_writer)
		err = recording_writer_update(run->recording_writer);
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
	run->outlived = watched_pids_have_ended(&r->watched);
	return run->stop || run->outlived;
}

static int time_left_ms(const struct run *run, uint64_t now)
{
	uint64_t end = run->recording->started_ns + run->options->duration_ns;
	int pace = recording_pace_ms(run->recording);

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
		struct pollfd fds[RECORDING_FDS + 1] = {
			[RECORDING_FDS] = { .fd = run->signals.fd, .events = POLLIN },
		};

		recording_fds(r, fds);
		err = recording_wait(r, fds, RECORDING_FDS + 1, time_left_ms(run, now));
		run->stop |= signals_say_stop(&run->signals);
		if (!err)
			err = recording_pump(r);
		now = clock_now_ns();
		if (!err)
			err = every_second(run, now);
	}
	return err;
}

static struct aggregator *aggregator_of(const struct run *run)
{
	return window_aggregator(run->profile.window->window);
}

static int write_tape(const struct run *run, const struct names *names,
		      const struct stats *stats)
{
	static const enum tape_item items[N_BAD_RETURNS] = {
		[BAD_RETURN_MISTAKEN] = TAPE_UNCALLED,
		[BAD_RETURN_BOTTOM] = TAPE_MADE,
		[BAD_RETURN_SWITCH] = TAPE_SWITCHES,
	};
	struct tape_writer *tape = run->recording->tape;
	uint64_t totals[TAPE_TOTALS_MAX];
	size_t n = stats_to_tape(stats, totals);
	size_t frames = intern_count(aggregator_of(run)->frames);
	uint32_t pair[2];

	for (uint32_t id = 0; id < frames; id++) {
		const char *name = names_get(names, id);

		if (name)
			tape_write_name(tape, id, name);
		if (names_bad_return(names, id))
			tape_write(tape, items[names_bad_return(names, id)], &id,
				   sizeof(id));
		if (names_is_copied_start(names, id))
			tape_write(tape, TAPE_COPY, &id, sizeof(id));
	}
	for (uint32_t i = 0; names_next_misled(names, &i, pair);)
		tape_write(tape, TAPE_MISLED, pair, sizeof(pair));
	tape_write(tape, TAPE_TOTALS, totals, n * sizeof(*totals));
	return tape_writer_finish(tape);
}

/* A tape is written whatever became of the rest, which can be made from it. */
static int finish_tape(const struct run *run, const struct names *names,
		       const struct stats *stats, int err)
{
	struct error_kept why;
	int tape_err;

	error_keep(&why);
	tape_err = write_tape(run, names, stats);
	if (err && tape_err)
		return fail(err, "%s; the tape was not written either", why.sentence);
	return err ? err : tape_err;
}

static int find_names(const struct run *run, struct names *names, struct stats *stats)
{
	const struct symbol_sources sources = window_profile_sources(&run->profile);
	int err = symbolize(names, aggregator_of(run), &sources, &stats->symbols);

	return err ? err : window_profile_check(&run->profile, names, stats);
}

static int write_output(struct run *run, const struct output_file *file)
{
	return file == run->streamed
		       ? recording_writer_finish(run->recording_writer)
		       : output_profile(file,
					profile_builder_profile(run->profile.builder),
					run->options->view);
}

/* Each is tried, whatever became of the others. */
static int write_outputs(struct run *run)
{
	const struct record_options *options = run->options;
	unsigned int failed = 0;
	int err = 0;

	for (unsigned int i = 0; i < options->n_outputs; i++) {
		int one = write_output(run, &options->outputs[i]);

		if (one && options->n_outputs > 1) {
			log_warn("%s", error_sentence());
			failed++;
		}
		err = one ? one : err;
	}
	return failed ? fail(err, "%u of %u outputs were not written", failed,
			     options->n_outputs)
		      : err;
}

static int finish(struct run *run)
{
	struct recording *r = run->recording;
	const struct output output = { r->options->outputs, r->options->n_outputs,
				       r->options->stats_json, r->options->view,
				       r->options->summary };
	AUTO(names) names = NULL;
	struct stats stats = { 0 };
	int err = names_new(&names);

	if (!err)
		err = recording_close_window(r, true, &run->closed);
	if (err)
		return err;
	stats.totals = run->closed->totals;
	stats.duration_ns = r->stopped_ns - r->started_ns;
	stats.nice = r->nice;
	err = find_names(run, names, &stats);
	if (!err)
		err = window_profile_finish(&run->profile, names, &stats);
	if (err)
		return err;
	err = write_outputs(run);
	stats.finish_ns = clock_now_ns() - r->stopped_ns;
	if (!err)
		err = output_stats(&output, &stats);
	return r->tape ? finish_tape(run, names, &stats, err) : err;
}

static void say_why_it_ended(const struct run *run)
{
	char text[64];

	if (run->options->progress)
		run->options->progress(NULL);
	if (run->outlived && run->options->summary)
		log_warn("%s: the recording ends",
			 watched_pids_end_text(&run->recording->watched, text,
					       sizeof(text)));
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
	if (run->options->summary)
		log_warn("%s keeps running as process %d", run->options->command[0],
			 (int)command->pid);
	return 0;
}

static int run_it(struct run *run)
{
	struct recording *r = run->recording;
	int err = recording_start(r);

	if (!err)
		err = loop(run);
	if (!err)
		err = recording_stop(r);
	run->stop |= signals_say_stop(&run->signals); /* with the command, perhaps */
	signals_let_go("weft: ended before all was written: the rest is lost\n");
	say_why_it_ended(run);
	if (!err)
		err = recording_drain(r, run->stop);
	if (!err)
		err = finish(run);
	return err ? err : commands_status(run);
}

/* The first that can be written meanwhile; of the same profile, one is enough. */
static const struct output_file *find_streamed(const struct record_options *options)
{
	for (unsigned int i = 0; i < options->n_outputs; i++)
		if (options->outputs[i].writer->stream)
			return &options->outputs[i];
	return NULL;
}

/* What the samples are gathered into, and where it is saved meanwhile. */
static int prepare(struct run *run)
{
	const struct output_file *file = find_streamed(run->options);
	int err = window_profile_begin(&run->profile, run->recording,
				       run->recording->windows.open, clock_now_ns());

	run->streamed = file;
	if (!err && file)
		err = recording_writer_new(&run->recording_writer, file->writer,
					   file->path, run->profile.builder,
					   aggregator_of(run));
	return err;
}

int record_run(const struct record_options *options)
{
	AUTO(recording) recording = NULL;
	struct run run = { .options = options };
	struct error_kept why;
	int err = signals_take(&run.signals);

	if (!err)
		err = recording_new(&recording, options, &run.signals);
	if (err)
		return err;
	run.recording = recording;
	err = prepare(&run);
	if (!err)
		err = run_it(&run);
	error_keep(&why);
	recording_writer_free(run.recording_writer);
	window_profile_end(&run.profile);
	recorded_window_free(run.closed);
	signals_close(&run.signals);
	recording_free(GIVE(recording));
	error_restore(&why);
	return err;
}
