/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of weft, as data: what each is called, what it reads from its
 * command line and what it then does. Only here are errors printed and exit
 * statuses chosen.
 */
#ifndef WEFT_CLI_COMMANDS_H
#define WEFT_CLI_COMMANDS_H

#include "cli/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LACKING = 3, /* kernel or privilege */
};

struct cli_command {
	const char *name;
	const char *summary;  /* one line, no capital, no period */
	const char *synopsis; /* what follows the name on the usage line */
	const char *about;    /* a paragraph of --help, or NULL */
	const char *examples; /* lines of --help */
	const struct option *options;
	bool takes_command; /* something after "--" */
	bool takes_files;   /* arguments that are no options */
	bool is_privileged; /* keeps the capabilities of weft's file */
	size_t line_bytes;  /* of the struct that options fill */

	void (*set_defaults)(void *line); /* over zeros; NULL: zeros are right */
	/* Looks for what can't work before anything starts. 0, or a negative
	 * errno: exit status 2. NULL: nothing to look for. */
	int (*check)(void *line, const struct given *given);
	/* An exit status, or a negative errno. */
	int (*run)(const void *line);
	void (*free)(void *line); /* what check() owns; NULL: nothing */
};

extern const struct cli_command command_record, command_report, command_agent,
	command_doctor;

/* weft, from its command line to its exit status. */
int commands_main(int argc, char **argv);

#endif
