// SPDX-License-Identifier: BSD-2-Clause
#include "cli/commands.h"

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/completion.h"
#include "cli/mdoc.h"
#include "cli/privileges.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_command *const commands[] = {
	&command_record,
	&command_report,
	&command_agent,
	&command_doctor,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(*commands) };

static const char *command_name(const void *arg, size_t i)
{
	static const char *const others[] = { "help", "completion", NULL };

	return i < N_COMMANDS ? commands[i]->name : others[i - N_COMMANDS];
}

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* The sentence of the error at hand, and what to do about it. */
static int say_error(enum exit_status status)
{
	log_error("%s", *error_sentence() ? error_sentence() : "failed");
	if (*error_hint())
		log_hint("%s", error_hint());
	return status;
}

static enum exit_status status_of(int err)
{
	return err == -EPERM || err == -ENOSYS || err == -EOPNOTSUPP ? EXIT_LACKING
								     : EXIT_FAILED;
}

/* Output that could not be written is a failure, whatever was said before. */
static int finish(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fail_errno(-(errno ? errno : EIO), "can't write to stdout");
	return say_error(EXIT_FAILED);
}

static int print(const struct str *text)
{
	if (str_error(text))
		return say_error(EXIT_FAILED);
	fwrite(text->s, 1, text->n, stdout);
	return finish(EXIT_DONE);
}

static int command_help(const struct cli_command *command)
{
	AUTO_STR out = { 0 };

	str_addf(&out, "weft %s: %s\n\n", command->name, command->summary);
	str_addf(&out, "Usage: weft %s %s\n", command->name, command->synopsis);
	if (command->about)
		str_addf(&out, "\n%s\n", command->about);
	options_help(command->options, &out);
	str_addf(&out, "\nExamples:\n%s", command->examples);
	return print(&out);
}

static int general_help(void)
{
	AUTO_STR out = { 0 };

	str_add(&out, "weft: a sampling profiler for Linux that shows async callers\n\n"
		      "Usage: weft COMMAND [OPTION…]\n\nCommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		str_addf(&out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	str_add(&out, "  help       show how to use a command: weft help COMMAND\n"
		      "  completion print a completion script for a shell: weft "
		      "completion bash\n"
		      "\nOptions:\n"
		      "  -h, --help     show this text\n"
		      "  -V, --version  show the version\n"
		      "\nExamples:\n"
		      "  sudo weft doctor\n"
		      "  sudo weft record -d 10s\n"
		      "  weft report\n"
		      "  sudo weft record -p 1234 -d 30s -o x.svg\n"
		      "  weft help record\n"
		      "\nExit status: 0 done, 1 failed, 2 usage error, 3 the kernel or "
		      "privileges lack something\n(weft doctor says what).\n");
	return print(&out);
}

/* What perf has a command for. */
static const char *habit(const char *name)
{
	static const struct {
		const char *name, *instead;
	} habits[] = {
		{ "top", "sudo weft record -d 5s && weft report" },
		{ "script", "weft report -o - writes folded stacks, --json a tree" },
		{ "annotate", "weft report -o x.pb.gz, and go tool pprof -list" },
		{ "diff", "weft report -o x.pb.gz, and go tool pprof -diff_base" },
	};

	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		if (!strcmp(habits[i].name, name))
			return habits[i].instead;
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *instead = habit(name);
	const char *nearest = nearest_word(name, command_name, NULL);
	bool is_option = name[0] == '-';
	char shown[64];

	str_clean(shown, sizeof(shown), name, strlen(name));
	fail(-EINVAL, "unknown %s '%s'", is_option ? "option" : "command", shown);
	if (!strcmp(name, "version") || !strcmp(name, "-v"))
		fail_hint(-EINVAL, "did you mean weft --version?");
	else if (instead)
		fail_hint(-EINVAL, "%s", instead);
	else if (is_option)
		fail_hint(-EINVAL, "a command comes first: weft record %s", shown);
	else if (nearest)
		fail_hint(-EINVAL, "did you mean weft %s?", nearest);
	else
		fail_hint(-EINVAL, "weft --help lists the commands");
	return say_error(EXIT_USAGE);
}

static int completion_help(void)
{
	AUTO_STR out = { 0 };

	str_add(&out, "weft completion: print a completion script for a shell\n\n"
		      "Usage: weft completion bash|zsh|fish\n\n"
		      "Prints the script on stdout. make install puts it where the shell "
		      "looks for it.\n\n"
		      "Examples:\n"
		      "  . <(weft completion bash)                for this shell\n"
		      "  weft completion zsh > ~/.zfunc/_weft     in a folder of fpath\n"
		      "  weft completion fish > ~/.config/fish/completions/weft.fish\n");
	return print(&out);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* weft completion SHELL */
static int complete_for(const char *shell)
{
	AUTO_STR out = { 0 };

	if (shell && is_help(shell))
		return completion_help();
	if (shell && completion_write(&out, shell, commands, N_COMMANDS))
		return print(&out);
	fail(-EINVAL, "completions for which shell?");
	fail_hint(-EINVAL, "give one: weft completion bash, zsh or fish");
	return say_error(EXIT_USAGE);
}

/* weft help --mdoc COMMAND PART: what tools/man puts into a page. */
static int mdoc_for(const char *name, const char *part)
{
	const struct cli_command *command = name ? find_command(name) : NULL;
	AUTO_STR out = { 0 };

	if (!command)
		return unknown_command(name ? name : "");
	if (part && !strcmp(part, "synopsis"))
		mdoc_synopsis(&out, command);
	else if (part && !strcmp(part, "formats"))
		mdoc_formats(&out);
	else
		mdoc_options(&out, command);
	return print(&out);
}

/* weft help [COMMAND] */
static int help_on(const char *name)
{
	const struct cli_command *command = name ? find_command(name) : NULL;

	if (!name || !strcmp(name, "help"))
		return general_help();
	if (!strcmp(name, "completion"))
		return completion_help();
	return command ? command_help(command) : unknown_command(name);
}

static int check_line(const struct cli_command *command, void *line,
		      const struct given *given)
{
	if (given->rest && !command->takes_command) {
		fail(-EINVAL, "weft %s takes nothing after --", command->name);
		return fail_hint(-EINVAL, "weft help %s", command->name);
	}
	if (given->rest && !given->rest[0]) {
		fail(-EINVAL, "no command after --");
		return fail_hint(-EINVAL, "write the command and its arguments: -- sleep "
					  "1");
	}
	return command->check ? command->check(line, given) : 0;
}

static int run_line(const struct cli_command *command, int argc, char **argv, void *line)
{
	struct given given = { .takes_files = command->takes_files,
			       .takes_command = command->takes_command };
	int err;

	if (command->set_defaults)
		command->set_defaults(line);
	err = options_parse(command->options, argc, argv, line, &given);
	if (!err && given.help)
		return command_help(command);
	if (!err)
		err = check_line(command, line, &given);
	if (err)
		return say_error(EXIT_USAGE);
	err = command->run(line);
	return err < 0 ? say_error(status_of(err)) : finish(err);
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
	void *line = calloc(1, command->line_bytes);
	int status;

	if (!line) {
		fail(-ENOMEM, "no memory for options");
		return say_error(EXIT_FAILED);
	}
	status = run_line(command, argc, argv, line);
	if (command->free)
		command->free(line);
	free(line);
	return status;
}

int commands_main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct cli_command *command;

	log_set_sink(terminal_log);
	command = word ? find_command(word) : NULL;
	if (!command || !command->is_privileged)
		privileges_drop();
	if (!word) {
		fail(-EINVAL, "no command given");
		fail_hint(-EINVAL, "sudo weft record -d 10s samples the whole machine; "
				   "weft --help lists the commands");
		return say_error(EXIT_USAGE);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		printf("weft %s\n", WEFT_VERSION);
		return finish(EXIT_DONE);
	}
	if (is_help(word))
		return general_help();
	if (!strcmp(word, "help") && argc > 3 && !strcmp(argv[2], "--mdoc"))
		return mdoc_for(argv[3], argv[4]);
	if (!strcmp(word, "help"))
		return help_on(argv[2]);
	if (!strcmp(word, "completion"))
		return complete_for(argv[2]);
	return command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
}
