/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that is to be profiled: forked first, let go when all is ready. */
#ifndef WEFT_RECORD_COMMAND_H
#define WEFT_RECORD_COMMAND_H

#include "base/signals.h"

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid; /* 0: none */
	int go_fd, failed_fd;
	int exit_status; /* as a shell would report it; valid once ended */
	bool ended;
};

/* What we changed of ourselves, as it was and as the command is to have it. */
struct command_before {
	int nice;
	const struct signals *signals;
};

/* Forks; the child waits before its exec. */
int command_new(struct command *ret, char **argv, const struct command_before *before);

/* Lets it run. A negative errno if it could not be executed. */
int command_go(struct command *command, const char *name);

/* Did it end? Takes its exit status. */
bool command_poll(struct command *command);

/* Ends a child that was never let go; waits for nothing else. */
void command_close(struct command *command);

#endif
