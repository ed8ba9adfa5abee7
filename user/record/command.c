// SPDX-License-Identifier: BSD-2-Clause
#include "record/command.h"

#include "base/error.h"
#include "record/priority.h"
#include "record/program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void run_child(char **argv, int fd)
{
	char byte = 0;
	int err;

	program_map(argv[0]);
	/* whoever closes it unwritten does not want us to run */
	if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	err = errno;
	if (write(fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int command_new(struct command *ret, char **argv, const struct command_before *before)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return fail_errno(-errno, "socketpair");
	pid = fork();
	if (!pid) {
		close(fds[0]);
		priority_restore(before->nice);
		signals_restore(before->signals);
		run_child(argv, fds[1]);
	}
	close(fds[1]);
	*ret = (struct command){ .pid = pid, .fd = fds[0] };
	return pid < 0 ? fail_errno(-errno, "cannot fork for %s", argv[0]) : 0;
}

void command_wait_mapped(struct command *command, int ms)
{
	struct pollfd fd = { .fd = command->fd, .events = POLLIN };
	char byte;

	if (!command->is_mapped && poll(&fd, 1, ms) > 0)
		command->is_mapped = read(command->fd, &byte, 1) == 1;
}

static int cannot_run(int err, const char *name)
{
	fail_errno(err, "cannot run '%s'", name);
	if (err == -EACCES)
		return fail_hint(err, "is it a program, and may you run it?");
	if (err == -ENOENT && strchr(name, ' '))
		return fail_hint(err, "write its arguments as words of their own, or "
				      "have a shell read them: -- sh -c '...'");
	return fail_hint(err, "is it installed, and is its name spelled correctly?");
}

int command_go(struct command *command, const char *name)
{
	int err = 0;

	if (send(command->fd, "", 1, MSG_NOSIGNAL) != 1)
		return fail_errno(-errno, "cannot start %s", name);
	command_wait_mapped(command, -1);
	/* ends at the exec, or tells why there was none */
	if (read(command->fd, &err, sizeof(err)) != sizeof(err))
		return 0;
	return cannot_run(-err, name);
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
	if (command->pid > 0)
		close(command->fd);
}
