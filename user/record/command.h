/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that is to be profiled: forked first, let go when all is ready. */
#ifndef WEFT_RECORD_COMMAND_H
#define WEFT_RECORD_COMMAND_H

#include "base/signals.h"

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;	 /* 0: none */
	int fd;		 /* of a socket between it and us, until its exec */
	bool is_mapped;	 /* its program, or it could not */
	int exit_status; /* as a shell would report it; valid once ended */
	bool ended;
};

/* What we changed of ourselves, as it was and as the command is to have it. */
struct command_before {
	int nice;
	const struct signals *signals;
};

/* Forks; the child maps its program (record/program.h) and waits before its exec. */
int command_new(struct command *ret, char **argv, const struct command_before *before);

/* Until it has mapped its program; so long at most, or for ever (-1). */
void command_wait_mapped(struct command *command, int ms);

/* Lets it run. A negative errno if it could not be executed. */
int command_go(struct command *command, const char *name);

/* Did it end? Takes its exit status. */
bool command_poll(struct command *command);

/* Ends a child that was never let go; waits for nothing else. */
void command_close(struct command *command);

#endif
