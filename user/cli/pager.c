// SPDX-License-Identifier: BSD-2-Clause
#include "cli/pager.h"

#include "base/cleanup.h"
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* NULL: none. */
static const char *command_of(void)
{
	const char *term = getenv("TERM"), *command = getenv("WEFT_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	/* who runs with another user's rights starts nothing that its caller chose */
	if (getuid() != geteuid() || getgid() != getegid() || !terminal_is_stdout() ||
	    !term || !*term || !strcmp(term, "dumb") || !*command ||
	    !strcmp(command, "cat"))
		return NULL;
	return command;
}

/* 0, with its pid, or an errno. */
static int start(const char *command, int in, pid_t *ret)
{
	char shell[] = "sh", option[] = "-c", less[] = "less";
	char *by_shell[] = { shell, option, (char *)command, NULL };
	char *alone[] = { less, NULL }; /* so that it is known if there is none */
	char **words = strcmp(command, less) != 0 ? by_shell : alone;
	posix_spawn_file_actions_t files;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return err;
	err = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (!err)
		err = posix_spawnp(ret, words[0], &files, NULL, words, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

void pager_begin(void *arg)
{
	const char *command = command_of();
	struct pager *pager = arg;
	int ends[2];

	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	setenv("LESS", "FRX", 0);
	if (start(command, ends[0], &pager->pid)) {
		pager->pid = 0;
	} else {
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGINT, SIG_IGN); /* is the pager's now */
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_end(struct pager *pager)
{
	if (!pager->pid)
		return;
	close(STDOUT_FILENO); /* the end of what it reads */
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
}
