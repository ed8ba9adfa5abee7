// SPDX-License-Identifier: BSD-2-Clause
#include "worker/supervisor.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "worker/worker_protocol.h"
#include "worker/worker_sandbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* One that is kept from the CPU so long is no cause for another: that would be forked
 * from all that weft has by then. It touches no files, so nothing else holds it up. */
#define CHILD_STARTS_MS 5000
#define ERRNO_MAX	4095

static void run_child(const struct supervised *what, int sock, pid_t supervisor)
	__attribute__((noreturn));
static void run_child(const struct supervised *what, int sock, pid_t supervisor)
{
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, what->child_name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(1);
	what->run(sandbox_files(sock));
	_exit(0);
}

/* Nobody waits for one that does not die at once. */
static void end_child(pid_t pid)
{
	if (pid > 0)
		kill(pid, SIGKILL);
}

/* Whoever has ended, or the table of processes keeps him. child: -1 once he is one of
 * them, since his number may be another's. */
static void reap(pid_t *child)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		if (pid == *child)
			*child = -1;
}

static void wake(int signal)
{
}

/* Of children's ends it hears while it waits, and at no other time; whoever forked it may
 * not hear of them at all (base/signals.h). */
static void hear_of_ends(sigset_t *ret_others)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, ret_others);
	sigdelset(ret_others, SIGCHLD);
	signal(SIGCHLD, wake);
}

/* Waits until weft asks for a child; false: weft is gone. */
static bool is_asked(int control, const sigset_t *others, pid_t *child)
{
	struct pollfd asked = { .fd = control, .events = POLLIN };
	char byte;

	do
		reap(child);
	while (ppoll(&asked, 1, NULL, others) < 0 && errno == EINTR);
	return protocol_recv(control, &byte, 1, NULL, 0) == 1;
}

/* What the system does not grant is no error: what is larger is then lost. */
static void make_room(int sock, int bytes)
{
	if (bytes)
		setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* Its pid, or negative. The socket of the other end goes to whoever asked. */
static pid_t start_child(const struct supervised *what, int control,
			 const sigset_t *others)
{
	pid_t supervisor = getpid(), pid;
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	make_room(ends[0], what->socket_bytes);
	make_room(ends[1], what->socket_bytes);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, others, NULL);
		run_child(what, ends[1], supervisor);
	}
	if (pid < 0)
		pid = -errno; /* who asked hears why */
	err = protocol_send(control, &pid, sizeof(pid), pid < 0 ? -1 : ends[0], 0);
	close(ends[0]);
	close(ends[1]);
	if (!err)
		return pid;
	end_child(pid);
	return -1;
}

static int cannot_start(int err)
{
	fail_errno(err, "cannot start a worker");
	if (err == -EAGAIN)
		return fail_hint(err, "allow weft more processes: pids.max of its "
				      "cgroup, or ulimit -u");
	return err;
}

/* Serves until its end of the control socket is closed. parent: who forked. */
static void run_supervisor(const struct supervised *what, int control, pid_t parent)
	__attribute__((noreturn));
static void run_supervisor(const struct supervised *what, int control, pid_t parent)
{
	pid_t child = -1;
	sigset_t others;

	prctl(PR_SET_NAME, what->name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sandbox_signals();
	if (!what->is_privileged)
		sandbox_process();
	hear_of_ends(&others);
	if (getppid() != parent)
		_exit(1);
	control = sandbox_files(control);
	while (is_asked(control, &others, &child)) {
		end_child(child);
		child = start_child(what, control, &others);
		if (child < 0)
			break;
	}
	end_child(child);
	_exit(0);
}

void supervisor_end(struct supervisor *supervisor)
{
	if (supervisor->control >= 0)
		close(GIVE_FD(supervisor->control));
	if (supervisor->pid <= 0)
		return;
	kill(supervisor->pid, SIGKILL);
	/* it touches no files, so it dies at once; others may reap it */
	for (int i = 0; i < 1000 && !waitpid(supervisor->pid, NULL, WNOHANG); i++)
		usleep(1000);
	supervisor->pid = -1;
}

static int start_supervisor(struct supervisor *supervisor, const struct supervised *what)
{
	pid_t us = getpid(), pid;
	int ends[2];

	supervisor_end(supervisor);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail_errno(-errno, "cannot talk to a worker");
	pid = fork();
	if (!pid)
		run_supervisor(what, ends[1], us);
	close(ends[1]);
	supervisor->control = ends[0];
	supervisor->pid = pid;
	return pid < 0 ? cannot_start(-errno) : 0;
}

/* Its socket, or a negative errno. */
static int ask_once(int control, pid_t *ret_child)
{
	struct pollfd answer = { .fd = control, .events = POLLIN };
	int err = protocol_send(control, "", 1, -1, MSG_DONTWAIT);
	int sock = -1;
	ssize_t n;
	pid_t pid;

	if (err)
		return err;
	if (poll(&answer, 1, CHILD_STARTS_MS) <= 0)
		return -ETIMEDOUT;
	n = protocol_recv(control, &pid, sizeof(pid), &sock, MSG_DONTWAIT);
	if (n == sizeof(pid) && sock >= 0) {
		*ret_child = pid;
		return sock;
	}
	if (sock >= 0)
		close(sock);
	if (n == sizeof(pid) && pid < 0 && pid > -ERRNO_MAX)
		return pid;
	return n < 0 ? (int)n : -EPIPE;
}

/* A second supervisor is forked only when somebody ended the first. */
int supervisor_ask(struct supervisor *supervisor, const struct supervised *what,
		   pid_t *ret_child)
{
	int sock = -EPIPE;

	for (int tries = 0; tries < 3; tries++) {
		int err;

		if (supervisor->control >= 0)
			sock = ask_once(supervisor->control, ret_child);
		if (sock >= 0)
			return sock;
		err = start_supervisor(supervisor, what);
		if (err)
			return err;
	}
	return cannot_start(sock);
}
