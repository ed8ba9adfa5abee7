// SPDX-License-Identifier: BSD-2-Clause
/* weft report */
#include "base/error.h"
#include "cli/check.h"
#include "cli/commands.h"

#include <errno.h>

#define AT(member) .offset = offsetof(struct report_options, member)

static const struct option_word views[] = {
	{ "async", VIEW_ASYNC },
	{ "thread", VIEW_THREAD },
	{ 0 },
};

static const struct option options[] = {
	{ OPTION_HEADING, .help = "Options" },
	{ OPTION_STRING, 0, "tape", "FILE", "what weft record --tape has written",
	  AT(tape) },
	{ OPTION_STRING, 'o', "output", "FILE",
	  "folded stacks (weft.folded); - for stdout", AT(output) },
	{ OPTION_CHOICE, 0, "view", "VIEW",
	  "async: with async callers (default)\nthread: the thread's own stack", AT(view),
	  .words = views },
	{ OPTION_STRING, 0, "stats-json", "FILE", "what was counted and lost, as JSON",
	  AT(stats_json) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "no summary", AT(quiet) },
	{ OPTION_END },
};

static void set_defaults(void *arg)
{
	struct report_options *line = arg;

	line->view = VIEW_ASYNC;
	line->output = "weft.folded";
}

static int check_report(void *arg, const struct given *given)
{
	const struct report_options *line = arg;
	const struct named_path input = { "tape", line->tape };
	const struct named_path outputs[] = {
		{ "output", line->output },
		{ "stats-json", line->stats_json },
	};
	int err;

	if (!line->tape) {
		fail(-EINVAL, "nothing to report on");
		return fail_hint(-EINVAL, "give --tape FILE, made by weft record --tape "
					  "FILE");
	}
	err = check_input(&input);
	if (!err)
		err = check_outputs(outputs, 2);
	if (!err)
		err = check_distinct(&input, &outputs[0]);
	return err ? err : check_distinct(&input, &outputs[1]);
}

static int run_report(const void *arg)
{
	return report_run(arg);
}

const struct command command_report = {
	.name = "report",
	.summary = "make the output again, from a tape of samples",
	.synopsis = "--tape FILE [OPTION…]",
	.about = "Needs no privileges, and works on any machine of the same kind: names "
		 "that were\nknown when the tape was made are on it.",
	.examples = "  sudo weft record -d 10s --tape weft.tape\n"
		    "  weft report --tape weft.tape --view thread -o -\n",
	.options = options,
	.line_bytes = sizeof(struct report_options),
	.set_defaults = set_defaults,
	.check = check_report,
	.run = run_report,
};
