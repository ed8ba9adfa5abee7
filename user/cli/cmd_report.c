// SPDX-License-Identifier: BSD-2-Clause
/* weft report */
#include "base/error.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "record/tape_report.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct report_line {
	struct report_options report; /* first: options fill this */
	struct string_list filters;
	const char *format;
	bool quiet, short_names, long_names;
	char *symfs;  /* owned: the folder made absolute */
	char *folder; /* owned: of --group-by's files, without '/' at its end */
};

#define AT(member) .offset = offsetof(struct report_line, member)

#define LETTERS_MAX 400 /* of a name at a terminal */

/* What weft record writes when it isn't told. */
static char usual_file[] = USUAL_OUTPUT;
static char *const usual_files[] = { usual_file, NULL };

static const struct option_word views[] = {
	{ "async", VIEW_ASYNC },
	{ "thread", VIEW_THREAD },
	{ 0 },
};

static const struct option_word groups[] = {
	{ "comm", GROUP_COMM },
	{ "none", GROUP_NONE },
	{ "process", GROUP_PROCESS },
	{ "thread", GROUP_THREAD },
	{ "container", GROUP_CONTAINER },
	{ "host", GROUP_HOST },
	{ 0 },
};

static const struct option options[] = {
	{ OPTION_HEADING, .help = "What to show" },
	{ OPTION_CHOICE, 0, "view", "VIEW",
	  "async: with async callers (default)\nthread: the thread's own stack",
	  AT(report.view), .words = views },
	{ OPTION_UNSIGNED, 0, "top", "N",
	  "rows of the table (default 20, in JSON all; 0: all)", AT(report.text.top),
	  .least = 0, .most = 100000000 },
	{ OPTION_UNSIGNED, 0, "least", "N",
	  "leave out branches with less than N per mille of\nthe tree's samples (default "
	  "10, in JSON 0)",
	  AT(report.text.least), .least = 0, .most = 1000 },
	{ OPTION_STRING, 0, "caller", "NAME",
	  "show who calls this function (* matches anything)", AT(report.text.caller) },
	{ OPTION_STRING, 0, "callee", "NAME", "show what this function calls",
	  AT(report.text.callee) },
	{ OPTION_STRINGS, 0, "filter", "KEY=VALUE",
	  "comm, pid, tid, container, host, module,\nfunction (* matches anything), "
	  "or\ntime=FROM..TO in seconds; may be repeated",
	  AT(filters), .offered = filter_key_name },
	{ OPTION_CHOICE, 0, "group-by", "WHAT",
	  "what the tree starts with: comm (default),\nprocess, thread, container, host, "
	  "none; with\n-o FOLDER/: write a file for each",
	  AT(report.text.group), .words = groups },
	{ OPTION_FLAG, 0, "invert", NULL, "show stacks from the leaf up",
	  AT(report.text.invert) },
	{ OPTION_FLAG, 0, "no-kernel", NULL, "leave out kernel frames",
	  AT(report.text.no_kernel) },
	{ OPTION_FLAG, 0, "no-labels", NULL,
	  "leave out labels that programs put between callers", AT(report.no_labels) },
	{ OPTION_FLAG, 0, "no-inlines", NULL, "leave out inlined functions",
	  AT(report.no_inlines) },

	{ OPTION_STRING, 0, "symfs", "DIR",
	  "name what had no name with files of the same build\nbelow this folder, at the "
	  "paths that they have below /",
	  AT(report.late_names.symfs) },
	{ OPTION_STRING, 0, "debuginfod", "URLS",
	  "ask these servers for debug files of what had no\nname; env: those of "
	  "$DEBUGINFOD_URLS",
	  AT(report.late_names.debuginfod) },
	{ OPTION_FLAG, 0, "inlines", NULL,
	  "also inlined functions and line numbers, from what\n--symfs and --debuginfod "
	  "find",
	  AT(report.late_names.inlines) },
	{ OPTION_FLAG, 0, "short-names", NULL,
	  "leave out what names don't need to be told apart:\nnamespaces, template "
	  "arguments, .cold, .isra.0\n(default on the terminal and in html)",
	  AT(short_names) },
	{ OPTION_FLAG, 0, "long-names", NULL, "write all of them", AT(long_names) },

	{ OPTION_HEADING, .help = "What to write" },
	{ OPTION_FLAG, 0, "json", NULL, "write the report as JSON", AT(report.json) },
	{ OPTION_STRING, 'o', "output", "FILE",
	  "write a file instead; its ending sets the format;\n- is stdout, folded",
	  AT(report.output) },
	{ OPTION_STRING, 0, "format", "FORMAT",
	  "format, whatever the ending: ", AT(format), .offered = writer_name },

	{ OPTION_HEADING, .help = "Tapes" },
	{ OPTION_STRING, 0, "tape", "FILE", "read a tape that weft record --tape wrote",
	  AT(report.tape) },
	{ OPTION_STRING, 0, "stats-json", "FILE",
	  "write a tape's counts and losses as JSON", AT(report.stats_json) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "no summary of a tape", AT(quiet) },
	HABIT('i', "input", "give the file alone: weft report FILE"),
	HABIT('g', "call-graph",
	      "the report always has callers (--caller NAME shows a function's)"),
	HABIT('s', "sort", "say --group-by WHAT, or --filter KEY=VALUE"),
	HABIT('\0', "comm", "say --filter comm=NAME"),
	HABIT('p', "pid", "say --filter pid=N"),
	HABIT('\0', "tid", "say --filter tid=N"),
	HABIT('\0', "dso", "say --filter module=NAME"),
	HABIT('\0', "percent-limit", "say --least N, which is per mille"),
	HABIT('\0', "stdio", "that is what weft report writes (-o x.html makes a page)"),
	HABIT('\0', "no-children", "the column self is that, so leave it out"),
	{ OPTION_END },
};
#undef AT

#define ONE_AT_A_TIME  "a report shows only one of them"
#define TERMINAL_ONLY  "only the report on the terminal can show that"
#define FILTER_INSTEAD "--filter function=NAME keeps the stacks with that function"
#define TAPE_ALONE     "a tape must be converted to a recording first"
#define TAPE_FIRST     "weft report --tape FILE -o x.weft, then weft report x.weft"

static const struct option_conflict conflicts[] = {
	{ "short-names", "long-names", "names are either", "drop one of them" },
	{ "tape", "short-names", TAPE_ALONE, TAPE_FIRST },
	{ "caller", "callee", ONE_AT_A_TIME, "drop one of them" },
	{ "caller", "invert", "callers are shown from the leaf up already",
	  "drop --invert" },
	{ "callee", "invert", ONE_AT_A_TIME, "drop one of them" },
	{ "caller", "group-by", "the tree starts with that function",
	  "drop one of them" },
	{ "callee", "group-by", "the tree starts with that function",
	  "drop one of them" },
	{ "invert", "group-by", "the tree starts with the leaf", "drop one of them" },
	{ "json", "output", "each says what to write",
	  "drop one; to keep JSON in a file, use > FILE" },
	{ "output", "caller", TERMINAL_ONLY, FILTER_INSTEAD },
	{ "output", "callee", TERMINAL_ONLY, FILTER_INSTEAD },
	{ "output", "invert", "a file holds stacks from the root", "drop one of them" },
	{ "output", "top", "a file holds everything", "drop one of them" },
	{ "output", "least", "a file holds everything", "drop one of them" },
	{ "tape", "json", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "filter", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "group-by", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "caller", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "callee", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "no-kernel", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "no-inlines", TAPE_ALONE, TAPE_FIRST },
	{ "inlines", "no-inlines", "one adds what the other leaves out",
	  "drop one of them" },
	{ "tape", "inlines", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "symfs", TAPE_ALONE, TAPE_FIRST },
	{ "tape", "debuginfod", TAPE_ALONE, TAPE_FIRST },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct report_line *line = arg;

	line->report.view = VIEW_ASYNC;
	line->report.text.top = 20;
	line->report.text.least = 10;
}

static int check_inputs(struct report_options *report)
{
	int err = 0;

	if (report->tape) {
		const struct named_path tape = { "tape", report->tape };

		if (report->n_files) {
			fail(-EINVAL, "--tape and files can't be read together");
			return fail_hint(-EINVAL, "give one or the other");
		}
		if (!report->output)
			report->output = "weft.folded";
		return check_input(&tape);
	}
	if (!report->n_files && !access(usual_files[0], F_OK)) {
		report->files = (char **)usual_files;
		report->n_files = 1;
	}
	if (!report->n_files) {
		fail(-EINVAL, "nothing to report on");
		fail_hint(-EINVAL, "give a file that weft record wrote; "
				   "sudo weft record -d 10s makes one");
		return check_hint_part(-EINVAL, usual_files[0]);
	}
	for (unsigned int i = 0; !err && i < report->n_files; i++) {
		const struct named_path file = { NULL, report->files[i] };

		if (strcmp(report->files[i], "-") != 0)
			err = check_input(&file);
	}
	return err;
}

/* A file of a group's may have any name, so none of the inputs may lie there. */
static int check_outside(const char *input, const char *folder)
{
	const char *slash = strrchr(input, '/');
	AUTO_STR inside = { 0 };

	str_addf(&inside, "%s/%s", folder, slash ? slash + 1 : input);
	if (str_error(&inside))
		return str_error(&inside);
	return check_distinct(&(struct named_path){ NULL, input },
			      &(struct named_path){ "output", inside.s });
}

static int check_paths(const struct report_options *report)
{
	const struct named_path outputs[] = {
		{ "output", report->group_files ? NULL : report->output },
		{ "stats-json", report->stats_json },
	};
	int err = check_outputs(outputs, 2);

	for (unsigned int i = 0; !err && i < 2 && report->tape; i++)
		err = check_distinct(&(struct named_path){ "tape", report->tape },
				     &outputs[i]);
	for (unsigned int i = 0; !err && i < report->n_files; i++)
		if (strcmp(report->files[i], "-") != 0)
			err = report->group_files
				      ? check_outside(report->files[i], report->output)
				      : check_distinct(
						&(struct named_path){ NULL,
								      report->files[i] },
						&outputs[0]);
	return err;
}

static int check_late_names(struct report_line *line)
{
	struct late_names_options *names = &line->report.late_names;
	int err = check_debuginfod_said(&names->debuginfod);

	names->progress = terminal_progress();
	if (!err && names->inlines && !names->symfs && !names->debuginfod) {
		fail(-EINVAL, "--inlines needs files with debug information");
		return fail_hint(-EINVAL, "say where they are, with --symfs DIR or "
					  "--debuginfod URLS");
	}
	if (err || !names->symfs)
		return err;
	err = check_symfs(names->symfs, &line->symfs);
	names->symfs = line->symfs;
	return err;
}

/* Or is it data, for other programs? */
static bool is_for_people(const struct report_options *report)
{
	if (report->json)
		return false;
	if (report->output)
		return report->writer == &html_writer;
	/* a pattern is of whole names */
	return terminal_is_stdout() && !report->text.caller && !report->text.callee;
}

/* Of the path without slashes at its end; 0: it is no folder. One that ends so may yet
 * be made. */
static size_t folder_length(const char *path)
{
	size_t n = strlen(path), length = n;
	struct stat st;

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length < n || (!stat(path, &st) && S_ISDIR(st.st_mode)) ? length : 0;
}

/* --group-by with an output: a file for each group, in a folder. */
static int check_group_files(struct report_line *line)
{
	struct report_options *report = &line->report;
	size_t n = folder_length(report->output);

	if (!n) {
		fail(-EINVAL, "--group-by writes a file for each group, and --output "
			      "names one file");
		return fail_hint(-EINVAL, "name a folder: -o FOLDER/; or drop one of "
					  "them: a file has its own order");
	}
	if (report->text.group == GROUP_NONE) {
		fail(-EINVAL, "--group-by none has no groups to write files for");
		return fail_hint(-EINVAL, "group by something, or drop --group-by");
	}
	line->folder = strndup(report->output, n);
	if (!line->folder)
		return fail(-ENOMEM, "no memory for a path");
	report->output = line->folder;
	report->group_files = true;
	return 0;
}

static int check_report(void *arg, const struct given *given)
{
	struct report_line *line = arg;
	struct report_options *report = &line->report;
	int err = options_conflict(given, conflicts);

	if (!report->output && terminal_is_stdout())
		report->text.letters = LETTERS_MAX;
	if (!report->output && !line->long_names)
		report->text.columns = terminal_columns();
	report->text.colours = !report->output && terminal_wants_colours();
	report->summary = line->quiet ? NULL : terminal_say;
	/* for a program nothing is too small, unless it says so */
	if (report->json && !options_given(given, "top"))
		report->text.top = 0;
	if (report->json && !options_given(given, "least"))
		report->text.least = 0;
	report->files = given->files;
	report->n_files = given->n_files;
	for (unsigned int i = 0; !err && i < line->filters.n; i++)
		err = filter_add(&report->filter, line->filters.items[i]);
	if (!err)
		err = check_inputs(report);
	if (!err && line->format && !report->output)
		report->output = "-";
	if (!err)
		err = check_late_names(line);
	if (!err && report->output && options_given(given, "group-by"))
		err = check_group_files(line);
	if (!err)
		err = check_paths(report);
	if (!err && report->output)
		err = check_writer(report->output, line->format, &report->writer);
	report->short_names =
		line->short_names || (!line->long_names && is_for_people(report));
	return err;
}

static int run_report(const void *arg)
{
	const struct report_line *line = arg;
	struct report_options report = line->report;
	struct pager pager = { 0 };
	int err;

	if (report.tape)
		return tape_report_run(&report);
	report.before_text = pager_begin;
	report.before_text_arg = &pager;
	err = report_run(&report);
	pager_end(&pager);
	return err;
}

static void free_report(void *arg)
{
	struct report_line *line = arg;

	free(line->symfs);
	free(line->folder);
}

const struct cli_command command_report = {
	.name = "report",
	.summary = "show what was recorded, or write it in another format",
	.synopsis = "[OPTION…] [FILE…]",
	.about = "Shows a recording (" USUAL_OUTPUT ", unless you give files), folded "
		 "stacks,\n"
		 "pprof profiles or the output of perf script, from files or stdin (-).\n"
		 "Adds up several files. Needs no privileges.",
	.examples = "  weft report                              profile.weft, as a table "
		    "and a tree\n"
		    "  weft report --view thread x.weft         the thread's own stacks\n"
		    "  weft report --caller malloc x.weft       who calls malloc\n"
		    "  weft report --filter comm=redis* x.weft  only threads with such "
		    "names\n"
		    "  weft report x.weft -o x.pb.gz            for go tool pprof\n"
		    "  weft report --group-by process -o all/ --format svg\n"
		    "                                           a file for each process\n"
		    "  weft report --tape weft.tape -o -        process raw samples "
		    "again\n",
	.options = options,
	.takes_files = true,
	.line_bytes = sizeof(struct report_line),
	.set_defaults = set_defaults,
	.check = check_report,
	.run = run_report,
	.free = free_report,
};
