// SPDX-License-Identifier: BSD-2-Clause
#include "flow/record.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "flow/gather.h"
#include "flow/output.h"
#include "flow/recording.h"
#include "proc/scan.h"
#include "sym/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The reader's own pace; a ring that fills wakes it sooner. */
#define PUMP_MS	  50
#define SETTLE_MS 3 /* until an event that just came is due: SETTLED_NS */
#define SECOND_NS 1000000000ULL

struct run {
	struct recording *recording;
	const struct record_options *options;
	int signal_fd;
	bool stop;
	bool progress; /* stderr is a terminal */
	uint64_t next_second_ns;
};

static int block_signals(void)
{
	sigset_t set;
	int fd;

	/* a shell's background job begins with SIGINT ignored, which would drop it */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return fail_errno(-errno, "cannot block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? fail_errno(-errno, "cannot read signals") : fd;
}

/* The first signal stops and writes; from here on one ends us at once. */
static void unblock_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void read_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			run->stop = true;
}

static void show_progress(const struct run *run, uint64_t now)
{
	const struct recording *r = run->recording;
	struct sampler_totals totals;

	if (!run->progress || sampler_totals(r->sampler, &totals))
		return;
	fprintf(stderr, "\r%4.0f s  %llu samples  %llu lost ",
		(double)(now - r->started_ns) / SECOND_NS,
		totals.ledger.outcomes[OUTCOME_KEPT],
		totals.ledger.outcomes[OUTCOME_RING_FULL] +
			totals.ledger.outcomes[OUTCOME_NO_RING]);
}

static int every_second(struct run *run, uint64_t now)
{
	if (now < run->next_second_ns)
		return 0;
	run->next_second_ns = now + SECOND_NS;
	show_progress(run, now);
	return sampler_check_cpus(run->recording->sampler);
}

/* Is any process of -p, any thread of -t still there? */
static bool targets_alive(const struct record_options *options)
{
	if (!options->tgids.n && !options->tids.n)
		return true;
	for (unsigned int i = 0; i < options->tgids.n; i++)
		if (scan_is_alive(options->tgids.pids[i], true))
			return true;
	for (unsigned int i = 0; i < options->tids.n; i++)
		if (scan_is_alive(options->tids.pids[i], false))
			return true;
	return false;
}

static bool is_over(struct run *run, uint64_t now)
{
	struct recording *r = run->recording;

	if (run->options->duration_ns && now - r->started_ns >= run->options->duration_ns)
		return true;
	if (run->options->command && command_poll(&r->command))
		return true;
	return run->stop || !targets_alive(run->options);
}

/* A new mapping's keys should be known at once, not a pump later. */
static int time_left_ms(const struct run *run, uint64_t now)
{
	uint64_t end = run->recording->started_ns + run->options->duration_ns;
	int pace =
		pipeline_sideband_waits(run->recording->pipeline) ? SETTLE_MS : PUMP_MS;

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
			{ .fd = run->signal_fd, .events = POLLIN },
		};

		if (poll(fds, 3, time_left_ms(run, now)) < 0 && errno != EINTR)
			return fail_errno(-errno, "poll");
		read_signals(run);
		err = recording_pump(r);
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
	keys_started(r->keys, r->started_ns);
	if (!err && run->options->command)
		err = command_go(&r->command, run->options->command[0]);
	return err;
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
	keys_count(r->keys, &stats->keys);
}

static int write_tape(struct recording *r, const struct names *names,
		      const struct stats *stats)
{
	uint64_t totals[TAPE_TOTALS_MOST];
	size_t n = stats_to_tape(stats, totals);
	size_t frames = intern_count(pipeline_profile(r->pipeline)->frames);

	for (uint32_t id = 0; id < frames; id++) {
		const char *name = names_get(names, id);

		if (name)
			tape_write_name(r->tape, id, name);
		if (names_is_uncalled(names, id))
			tape_write(r->tape, TAPE_UNCALLED, &id, sizeof(id));
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

static int finish(struct recording *r)
{
	const struct output output = { r->options->output, r->options->stats_json,
				       &folded_writer, r->options->view,
				       r->options->quiet };
	struct profile *profile = pipeline_profile(r->pipeline);
	struct module_table *modules = pipeline_modules(r->pipeline);
	AUTO(names) names = NULL;
	AUTO(gather) gather = NULL;
	struct stats stats = { 0 };
	int err = names_new(&names);

	if (!err)
		err = sampler_totals(r->sampler, &stats.totals);
	if (!err)
		err = symbolize(names, profile, modules, r->files, r->worker,
				&stats.symbols);
	if (!err)
		err = calls_check(names, profile, modules, r->files);
	if (err)
		return err;
	err = gather_new(&gather, profile, modules, NULL);
	if (!err)
		err = gather_finish(gather, names);
	if (!err)
		err = output_reading(&output, gather_reading(gather), &stats.notes);
	collect_stats(r, &stats);
	stats.finish_ns = clock_now_ns() - r->stopped_ns;
	stats_check(&stats);
	if (!err)
		err = output_stats(&output, &stats);
	return r->tape ? finish_tape(r, names, &stats, err) : err;
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
	unblock_signals();
	if (run->progress)
		fputs("\r\033[K", stderr);
	if (!err)
		err = recording_drain(r);
	if (!err)
		err = finish(r);
	if (err)
		return err;
	return r->command.ended ? r->command.exit_status : 0;
}

int record_run(const struct record_options *options)
{
	AUTO_CLOSE int signal_fd = block_signals();
	AUTO(recording) recording = NULL;
	struct run run = { .options = options, .signal_fd = signal_fd };
	int err;

	if (signal_fd < 0)
		return signal_fd;
	err = recording_new(&recording, options);
	if (err)
		return err;
	run.recording = recording;
	run.progress = !options->quiet && isatty(STDERR_FILENO);
	return run_it(&run);
}
