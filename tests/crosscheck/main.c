// SPDX-License-Identifier: BSD-2-Clause
/*
 * crosscheck: records a program and proves weft's stacks on the very samples. For
 * each tick the kernel also copies registers and stack; libdwfl walks those, and
 * the two stacks are compared address by address.
 *
 * Exit status: 0 enough samples and agreement, 1 not, 2 usage, 3 could not run.
 */
#include "tally.h"
#include "witness.h"

#include "base/error.h"
#include "record/record.h"
#include "format/writer.h"
#include "shared/record.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOST_PERCENT_MAX  1.0
#define ALONE_PERCENT_MAX 0.1
#define BUSY_MAX	  2 /* threads at a time, of what is recorded */

struct line {
	struct record_options record;
	const char *name;
	unsigned int samples;  /* end after so many */
	unsigned int least;    /* fewer are a failure */
	unsigned int examples; /* of each match */
	double agree;	       /* percent that must */
	double awaited;	       /* percent that may have come before a table, beside those
				  that came while something kept us from our work */
	double gave_up;	       /* percent that libdwfl may leave open */
};

static int usage(void)
{
	fputs("usage: crosscheck [OPTION…] [-- COMMAND…]\n"
	      "  -p PID[,PID…]     these processes; --comm NAME: threads of this name\n"
	      "  -n, --samples N   end after so many (1500); --least N: of these (half)\n"
	      "  -F, --hz N        samples a second and CPU (997)\n"
	      "  -d, --seconds N   end after so long (30)\n"
	      "  --unwind HOW      auto (the default), table or fp\n"
	      "  --fp-leaf         a fault: the sampled frame by frame pointer\n"
	      "  --agree PERCENT   of samples that must (99.9)\n"
	      "  --gave-up PERCENT of samples that libdwfl may leave open (1)\n"
	      "  --awaited PERCENT of samples that may say that a table was not there "
	      "yet,\n"
	      "                    and count for nothing else (0.1); those that come\n"
	      "                    while we can't run are allowed besides\n"
	      "  --examples N      of each match to be shown (1)\n"
	      "  --stats-json FILE our recording's figures, as weft record writes them\n"
	      "  --name NAME       in what is printed\n",
	      stderr);
	return 2;
}

static bool read_pids(struct pid_list *to, char *text)
{
	for (char *word; (word = strsep(&text, ",")) && to->n < FILTER_PIDS_MAX;) {
		if (atoi(word) <= 0)
			return false;
		to->pids[to->n++] = atoi(word);
	}
	return to->n;
}

static bool read_unwind(enum unwind *to, const char *word)
{
	static const char *const words[] = {
		[UNWIND_AUTO] = "auto",
		[UNWIND_TABLE] = "table",
		[UNWIND_FP] = "fp",
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++) {
		*to = i;
		if (!strcmp(words[i], word))
			return true;
	}
	return false;
}

static bool read_option(struct line *line, int option)
{
	switch (option) {
	case 'p':
		return read_pids(&line->record.tgids, optarg);
	case 'c':
		line->record.comm = optarg;
		return true;
	case 'n':
		line->samples = (unsigned int)atoi(optarg);
		return line->samples;
	case 'l':
		line->least = (unsigned int)atoi(optarg);
		return true;
	case 'F':
		line->record.hz = (unsigned int)atoi(optarg);
		return line->record.hz;
	case 'd':
		line->record.duration_ns = (uint64_t)(atof(optarg) * 1e9);
		return line->record.duration_ns;
	case 'u':
		return read_unwind(&line->record.unwind, optarg);
	case 'L':
		line->record.faults |= FAULT_FP_LEAF;
		return true;
	case 'a':
		line->agree = atof(optarg);
		return true;
	case 'w':
		line->awaited = atof(optarg);
		return true;
	case 'g':
		line->gave_up = atof(optarg);
		return true;
	case 'e':
		line->examples = (unsigned int)atoi(optarg);
		return true;
	case 's':
		line->record.stats_json = optarg;
		return true;
	case 'N':
		line->name = optarg;
		return true;
	default:
		return false;
	}
}

static bool read_line(struct line *line, int argc, char **argv)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "comm", required_argument, NULL, 'c' },
		{ "samples", required_argument, NULL, 'n' },
		{ "least", required_argument, NULL, 'l' },
		{ "hz", required_argument, NULL, 'F' },
		{ "seconds", required_argument, NULL, 'd' },
		{ "unwind", required_argument, NULL, 'u' },
		{ "fp-leaf", no_argument, NULL, 'L' },
		{ "agree", required_argument, NULL, 'a' },
		{ "awaited", required_argument, NULL, 'w' },
		{ "gave-up", required_argument, NULL, 'g' },
		{ "examples", required_argument, NULL, 'e' },
		{ "stats-json", required_argument, NULL, 's' },
		{ "name", required_argument, NULL, 'N' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "p:n:F:d:", options, NULL)) != -1) {
		if (!read_option(line, option))
			return false;
	}
	if (optind < argc)
		line->record.command = argv + optind;
	if (!line->least)
		line->least = line->samples / 2;
	return true;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Of the samples, how many may have come before a table. */
static double most_awaited(const struct line *line, const struct tally *tally,
			   const struct excuse *excuse)
{
	uint64_t ns =
		excuse->waited_ns + (line->record.command ? excuse->deadline_ns : 0);

	return line->awaited / 100 * (double)tally->samples +
	       (double)ns / 1e9 * line->record.hz * BUSY_MAX;
}

/* What is wrong, one a line; nothing: the check has passed. */
static int verdict(const struct line *line, const struct tally *tally,
		   const struct excuse *excuse, FILE *out)
{
	uint64_t awaited = tally->matches[MATCH_AWAITED];
	double agree = percent(tally_agreeing(tally), tally->samples - awaited);
	uint64_t open =
		tally->matches[MATCH_SAME_GAVE_UP] + tally->matches[MATCH_GOES_ON];
	int status = 0;

	if (tally->samples < line->least)
		status = fprintf(out, "# only %" PRIu64 " samples, not %u\n",
				 tally->samples, line->least);
	if (agree < line->agree)
		status = fprintf(out, "# %.2f %% agree, not %.2f %%\n", agree,
				 line->agree);
	if ((double)awaited > most_awaited(line, tally, excuse))
		status = fprintf(out,
				 "# %" PRIu64 " before the table of their code, and %.1f "
				 "are the most: we were kept from it for %.0f ms\n",
				 awaited, most_awaited(line, tally, excuse),
				 (double)excuse->waited_ns / 1e6);
	if (percent(open, tally->samples) > line->gave_up)
		status = fprintf(out, "# libdwfl left too many open\n");
	if (percent(tally->lost, tally->ours) > LOST_PERCENT_MAX)
		status = fprintf(out, "# too many samples lost by the kernel\n");
	if (percent(tally->alone, tally->ours) > ALONE_PERCENT_MAX)
		status = fprintf(out, "# too many samples without a partner\n");
	return status ? 1 : 0;
}

/* A command that has not ended goes on after a recording; not after this one. */
static void end_children(void)
{
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	for (int tries = 0; tries < 1000; tries++) {
		AUTO_FCLOSE FILE *file = fopen(path, "re");

		if (!file || fscanf(file, "%d", &pid) != 1)
			return;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The command talks to nobody. */
static FILE *keep_stdout(void)
{
	FILE *out = fdopen(dup(STDOUT_FILENO), "w");
	AUTO_CLOSE int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDOUT_FILENO);
	return out;
}

/* A thread that looks at how its own process and its helpers get on. */
struct watch {
	struct witness witness;
	pthread_t thread;
	atomic_bool ends;
};

static void *watch_run(void *arg)
{
	struct watch *watch = arg;

	while (!watch->ends) {
		witness_look(&watch->witness);
		usleep(2000);
	}
	return NULL;
}

/* What runs already was there before we looked. */
static int watch_begin(struct watch *ret, bool command)
{
	sigset_t all, before;
	int err;

	witness_begin(&ret->witness, getpid());
	if (!command)
		ret->witness.program_ns = ret->witness.looked_ns;
	/* signals are for the recording */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&ret->thread, NULL, watch_run, ret);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ? fail(-err, "no thread") : 0;
}

static struct excuse watch_end(struct watch *watch)
{
	watch->ends = true;
	pthread_join(watch->thread, NULL);
	return witness_excuse(&watch->witness);
}

static int run(const struct line *line)
{
	struct watch watch = { 0 };
	struct excuse excuse = { 0 };
	AUTO(capture) capture = NULL;
	AUTO_FCLOSE FILE *out = keep_stdout();
	struct tally tally;
	int err = out ? capture_new(&capture, line->samples) : fail(-ENOMEM, "no output");

	if (!err) {
		capture_use(capture);
		prctl(PR_SET_CHILD_SUBREAPER, 1); /* a command's children, too */
		err = watch_begin(&watch, line->record.command);
	}
	if (!err) {
		err = record_run(&line->record);
		excuse = watch_end(&watch);
		end_children();
	}
	if (err >= 0)
		err = tally_capture(&tally, capture, line->record.hz, line->examples,
				    out);
	if (err < 0) {
		fprintf(stderr, "crosscheck: %s\n%s\n", error_sentence(), error_hint());
		return 3;
	}
	tally_print(&tally, line->name, out);
	return verdict(line, &tally, &excuse, out);
}

int main(int argc, char **argv)
{
	struct line line = {
		.record = { .hz = 997,
			    .duration_ns = 30000000000ULL,
			    .max_frames = FRAMES_MAX,
			    .unwind_mb = UNWIND_MB_DEFAULT,
			    .outputs = { { "/dev/null", &folded_writer } },
			    .n_outputs = 1,
			    .event = "cpu-clock",
			    .faults = KERNEL_SAMPLES_TOO },
		.name = "crosscheck",
		.samples = 1500,
		.examples = 1,
		.agree = 99.9,
		.awaited = 0.1,
		.gave_up = 1,
	};

	if (!read_line(&line, argc, argv))
		return usage();
	return run(&line);
}
