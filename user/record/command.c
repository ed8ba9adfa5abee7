// SPDX-License-Identifier: BSD-2-Clause
#include "record/command.h"

#include "base/error.h"
#include "record/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void run_child(char **argv, int go_fd, int failed_fd)
{
	char byte;
	int err;

	/* whoever closes the pipe unwritten does not want us to run */
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int command_new(struct command *ret, char **argv, const struct command_before *before)
{
	int go[2], failed[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return fail_errno(-errno, "pipe");
	if (pipe2(failed, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return fail_errno(-errno, "pipe");
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		priority_restore(before->nice);
		signals_restore(before->signals);
		run_child(argv, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	*ret = (struct command){ .pid = pid, .go_fd = go[1], .failed_fd = failed[0] };
	return pid < 0 ? fail_errno(-errno, "cannot fork for %s", argv[0]) : 0;
}

int command_go(struct command *command, const char *name)
{
	int err = 0;

	if (write(command->go_fd, "", 1) != 1)
		return fail_errno(-errno, "cannot start %s", name);
	close(command->go_fd);
	command->go_fd = -1;
	/* ends at the exec, or tells why there was none */
	if (read(command->failed_fd, &err, sizeof(err)) != sizeof(err))
		return 0;
	fail_errno(-err, "cannot run %s", name);
	return fail_hint(-err, "is it installed, and is its name spelled correctly?");
}

bool command_poll(struct command *command)
{
	int status;

	if (command->ended || command->pid <= 0 ||
	    waitpid(command->pid, &status, WNOHANG) != command->pid)
		return command->ended;
	command->ended = true;
	command->exit_status =
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void command_close(struct command *command)
{
	if (command->pid <= 0)
		return;
	if (command->go_fd >= 0)
		close(command->go_fd);
	close(command->failed_fd);
}
