// SPDX-License-Identifier: BSD-2-Clause
/* weft record */
#include "base/error.h"
#include "base/log.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>

struct record_line {
	struct record_options record; /* first: options fill this */
	bool all;		      /* the default, said aloud */
	bool quiet, verbose;
	struct string_list outputs;
	char *cgroup; /* owned: record.cgroup made absolute */
	char *symfs;  /* the same of record.symfs */
	const char *format;
};

#define AT(member) .offset = offsetof(struct record_line, member)

static const struct option_word views[] = {
	{ "async", VIEW_ASYNC },
	{ "thread", VIEW_THREAD },
	{ 0 },
};

static const struct option_word events[] = {
	{ "cpu-clock", 0 },
	{ "cycles", 0 },
	{ 0 },
};

static const struct option_word unwinds[] = {
	{ "auto", UNWIND_AUTO },
	{ "table", UNWIND_TABLE },
	{ "fp", UNWIND_FP },
	{ 0 },
};

static const struct option_word fault_words[] = {
	{ "no-interval", FAULT_NO_INTERVAL }, /* shared/knobs.h tells what each does */
	{ "no-key", FAULT_NO_KEY },
	{ "no-identity", FAULT_NO_IDENTITY },
	{ "fp-leaf", FAULT_FP_LEAF },
	{ "late-tables", FAULT_LATE_TABLES },
	{ "orc-rule", FAULT_ORC_RULE },
	{ "check-orc", CHECK_ORC },
	{ "few-slabs", FEW_SLABS },
	{ "late-parts", LATE_PARTS },
	{ 0 },
};

static const struct option options[] = {
	{ OPTION_HEADING, .help = "What to sample (a sample must match all of these)" },
	{ OPTION_FLAG, 'a', "all", NULL, "the whole machine (default)", AT(all) },
	{ OPTION_PIDS, 'p', "pid", "PID[,PID…]", "these processes", AT(record.tgids) },
	{ OPTION_PIDS, 't', "tid", "TID[,TID…]", "these threads", AT(record.tids) },
	{ OPTION_STRING, 0, "cgroup", "PATH|NAME",
	  "a cgroup (version 2), or a container's, and\nthose below it",
	  AT(record.cgroup) },
	{ OPTION_STRING, 0, "comm", "NAME", "threads with exactly this name",
	  AT(record.comm) },
	{ OPTION_FLAG, 0, "kernel", NULL, "only samples in kernel code",
	  AT(record.kernel_only) },
	{ OPTION_FLAG, 0, "user", NULL, "only samples in user code",
	  AT(record.user_only) },

	{ OPTION_HEADING, .help = "How to sample" },
	{ OPTION_UNSIGNED, 'F', "freq", "HZ",
	  "samples per second on each CPU (default 99)", AT(record.hz), .least = 1,
	  .most = 1000000 },
	{ OPTION_DURATION, 'd', "duration", "TIME",
	  "stop after 500ms, 10s, 2m, 1h; by default at\nCtrl-C or when the command "
	  "ends",
	  AT(record.duration_ns) },
	{ OPTION_STRING, 0, "event", "EVENT",
	  "cpu-clock or cycles (default: cycles if they work)", AT(record.event),
	  .words = events },
	{ OPTION_UNSIGNED, 0, "max-frames", "N",
	  "most frames per stack, and as many again for its\nasync callers (16 to 1024; "
	  "default "
	  "512)",
	  AT(record.max_frames), .least = FRAMES_MIN, .most = FRAMES_MAX },
	{ OPTION_CHOICE, 0, "unwind", "HOW",
	  "auto: by unwind table, or by frame pointer\n"
	  "      where code is known to keep it (default)\n"
	  "table: by unwind table wherever there is one\n"
	  "fp: by frame pointer only",
	  AT(record.unwind), .words = unwinds },
	{ OPTION_UNSIGNED, 0, "unwind-memory", "MB",
	  "kernel memory for unwind tables, at most (default 64)", AT(record.unwind_mb),
	  .least = 1, .most = UNWIND_MB_MAX },
	{ OPTION_STRING, 0, "unwind-cache", "PATH",
	  "folder that keeps unwind tables between runs, or none\n"
	  "(default /var/cache/weft; if not root, ~/.cache/weft)",
	  AT(record.unwind_cache) },

	{ OPTION_FLAG, 0, "inlines", NULL,
	  "also show inlined functions and line numbers, where\nfiles have debug "
	  "information, and of Go programs",
	  AT(record.inlines) },
	{ OPTION_STRING, 0, "debuginfod", "URLS",
	  "ask these servers for missing debug files; none: ask\nnobody (default: "
	  "$DEBUGINFOD_URLS)",
	  AT(record.debuginfod) },
	{ OPTION_STRING, 0, "symfs", "DIR",
	  "also look below this folder for files with symbols,\nat the paths that they "
	  "have below /",
	  AT(record.symfs) },

	{ OPTION_HEADING, .help = "What to write" },
	{ OPTION_STRINGS, 'o', "output", "FILE",
	  "where to write; the file's ending sets the format\n(default " USUAL_OUTPUT
	  "); - is stdout, folded;\nrepeat it for more files",
	  AT(outputs) },
	{ OPTION_STRING, 0, "format", "FORMAT",
	  "format, whatever the ending: ", AT(format), .offered = writer_name },
	{ OPTION_CHOICE, 0, "view", "VIEW",
	  "async: with async callers (default)\nthread: the thread's own stack",
	  AT(record.view), .words = views },
	{ OPTION_FLAG, 0, "no-labels", NULL,
	  "leave out labels that programs put between callers", AT(record.no_labels) },
	{ OPTION_FLAG, 0, "trace-ids", NULL,
	  "also record for which trace and span threads worked,\n"
	  "where OpenTelemetry publishes it",
	  AT(record.trace_ids) },
	{ OPTION_STRING, 0, "stats-json", "FILE", "write counts and losses as JSON",
	  AT(record.stats_json) },
	{ OPTION_STRING, 0, "tape", "FILE", "write the raw samples, for weft report",
	  AT(record.tape) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "no progress and no summary", AT(quiet) },
	{ OPTION_FLAG, 'v', "verbose", NULL, "report problems as they happen",
	  AT(verbose) },
	{ OPTION_BITS, 0, "inject-fault", "WORD[,WORD…]", NULL, AT(record.faults),
	  .words = fault_words },
	HABIT('g', "call-graph",
	      "weft always records callers, so leave it out (--unwind chooses how)"),
	HABIT('e', NULL,
	      "weft counts cycles where it can, so leave it out, or say --event cycles "
	      "or "
	      "--event cpu-clock"),
	HABIT('G', NULL, "say --cgroup PATH"),
	HABIT('C', "cpu", "weft samples all CPUs"),
	HABIT('c', "count", "say --freq HZ"),
	HABIT('r', "rate", "say --freq HZ"),
	HABIT('f', "folded", "say --output x.folded, or --output - for stdout"),
	HABIT('K', NULL, "say --kernel"),
	HABIT('U', NULL, "say --user"),
	{ OPTION_END },
};
#undef AT

_Static_assert(RECORD_OUTPUTS_MAX >= STRINGS_LISTED_MAX, "room for all -o");
_Static_assert(sizeof(options) / sizeof(*options) <= OPTIONS_MAX,
	       "a bit for each in struct given");

static const struct option_conflict conflicts[] = {
	{ "all", "pid", "sample either the whole machine or some processes",
	  "drop one of them" },
	{ "all", "tid", "sample either the whole machine or some threads",
	  "drop one of them" },
	{ "all", "cgroup", "sample either the whole machine or a cgroup",
	  "drop one of them" },
	{ "all", "comm", "sample either the whole machine or threads of one name",
	  "drop one of them" },
	{ "all", NULL, "with a command, weft samples only its processes",
	  "drop --all; or start the command yourself and use -d" },
	{ "pid", NULL, "sample either running processes or a command",
	  "drop --pid or the command" },
	{ "tid", NULL, "sample either running threads or a command",
	  "drop --tid or the command" },
	{ "pid", "tid", "a process includes all its threads",
	  "to sample some threads, give -t alone" },
	{ "kernel", "user", "no sample matches both", "drop both to see all samples" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct record_line *line = arg;

	line->record.hz = 99;
	line->record.max_frames = FRAMES_DEFAULT;
	line->record.unwind_mb = UNWIND_MB_DEFAULT;
	line->record.view = VIEW_ASYNC;
}

static int check_filters(struct record_line *line)
{
	struct record_options *record = &line->record;
	int err = check_rate(record->hz);

	if (!err)
		err = check_processes(&record->tgids);
	if (!err)
		err = check_threads(&record->tids);
	if (!err && record->comm)
		err = check_comm(record->comm);
	if (!err && record->cgroup) {
		err = check_cgroup(record->cgroup, &line->cgroup);
		record->cgroup = line->cgroup;
	}
	return err;
}

static int check_paths(const struct record_options *record)
{
	struct named_path outputs[RECORD_OUTPUTS_MAX + 2] = {
		{ "tape", record->tape },
		{ "stats-json", record->stats_json },
	};

	for (unsigned int i = 0; i < record->n_outputs; i++)
		outputs[2 + i] = (struct named_path){ "output", record->outputs[i].path };
	return check_outputs(outputs, 2 + record->n_outputs);
}

static int check_record_outputs(struct record_line *line)
{
	struct record_options *record = &line->record;
	int err = 0;

	if (!line->outputs.n)
		line->outputs.items[line->outputs.n++] = USUAL_OUTPUT;
	if (line->format && line->outputs.n > 1) {
		fail(-EINVAL, "--format is the format of one output, but there are %u",
		     line->outputs.n);
		return fail_hint(-EINVAL,
				 "drop it: each output's ending sets its format");
	}
	record->n_outputs = line->outputs.n;
	for (unsigned int i = 0; i < record->n_outputs; i++)
		record->outputs[i].path = line->outputs.items[i];
	err = check_paths(record);
	for (unsigned int i = 0; !err && i < record->n_outputs; i++)
		err = check_writer(record->outputs[i].path, line->format,
				   &record->outputs[i].writer);
	return err;
}

static int check_record(void *arg, const struct given *given)
{
	struct record_line *line = arg;
	int err = options_conflict(given, conflicts);

	line->record.command = given->rest;
	if (!line->quiet) {
		/* a command may draw on the whole terminal */
		line->record.progress = given->rest ? NULL : terminal_progress();
		line->record.summary = terminal_say;
	}
	if (!err)
		err = check_filters(line);
	if (!err)
		err = check_record_outputs(line);
	if (!err && line->record.symfs) {
		err = check_symfs(line->record.symfs, &line->symfs);
		line->record.symfs = line->symfs;
	}
	return err ? err : check_debuginfod(&line->record.debuginfod);
}

static int run_record(const void *arg)
{
	const struct record_line *line = arg;
	int err;

	if (line->verbose)
		log_set_level(LOG_VERBOSE);
	err = probe_require();
	if (!err && !line->quiet)
		check_children(&line->record.tgids);
	return err ? err : record_run(&line->record);
}

static void free_record(void *arg)
{
	struct record_line *line = arg;

	free(line->cgroup);
	free(line->symfs);
}

const struct cli_command command_record = {
	.is_privileged = true,
	.name = "record",
	.summary = "sample stacks and write them",
	.synopsis = "[OPTION…] [-- COMMAND [ARGUMENT…]]",
	.about = "Samples where programs spend CPU time. Stops and writes the output at "
		 "Ctrl-C,\nafter the duration, or when the command ends. With a command, "
		 "weft exits with\nthe command's status.",
	.examples =
		"  sudo weft record -d 10s                  the whole machine; show it "
		"with\n"
		"                                           weft report\n"
		"  sudo weft record -p 1234 -d 30s -o -     one process, to stdout\n"
		"  sudo weft record -F 999 -- make -j2      a command and its children\n"
		"  sudo weft record -d 10s -o x.pb.gz       for go tool pprof\n",
	.options = options,
	.takes_command = true,
	.line_bytes = sizeof(struct record_line),
	.set_defaults = set_defaults,
	.check = check_record,
	.run = run_record,
	.free = free_record,
};
