// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/sender.h"

#include "base/clock.h"
#include "base/error.h"
#include "deliver/sender_child.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SLACK_MS 3000 /* beyond what it has for the request itself */

struct sender_keeper {
	const struct sender_config *configs;
	size_t n;
	pid_t pid;
	int control;
};

struct sender {
	struct sender_keeper *keeper;
	size_t i; /* of configs */
	int sock; /* -1: no process */
	bool is_busy;
	uint64_t deadline_ns;
};

int sender_keeper_new(struct sender_keeper **ret, const struct sender_config *configs,
		      size_t n)
{
	AUTO(sender_keeper) keeper = calloc(1, sizeof(*keeper));
	pid_t parent = getpid();
	int ends[2];

	if (!keeper)
		return fail(-ENOMEM, "no memory for senders");
	keeper->configs = configs;
	keeper->n = n;
	keeper->control = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail_errno(-errno, "cannot make a socket");
	keeper->pid = fork();
	if (!keeper->pid)
		sender_keeper_run(ends[1], parent, configs, n);
	close(ends[1]);
	keeper->control = ends[0];
	if (keeper->pid < 0)
		return fail_errno(-errno, "cannot fork the senders' keeper");
	*ret = GIVE(keeper);
	return 0;
}

void sender_keeper_free(struct sender_keeper *keeper)
{
	if (!keeper)
		return;
	if (keeper->control >= 0)
		close(keeper->control);
	while (keeper->pid > 0 && waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(keeper);
}

int sender_new(struct sender **ret, struct sender_keeper *keeper, size_t i)
{
	struct sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return fail(-ENOMEM, "no memory for a sender");
	sender->keeper = keeper;
	sender->i = i;
	sender->sock = -1;
	*ret = sender;
	return 0;
}

static void let_go(struct sender *sender)
{
	if (sender->sock >= 0)
		close(sender->sock);
	sender->sock = -1;
	sender->is_busy = false;
}

void sender_free(struct sender *sender)
{
	if (!sender)
		return;
	let_go(sender);
	free(sender);
}

/* The keeper's process i, with a socket to it. */
static int fork_one(struct sender_keeper *keeper, size_t which, int *ret)
{
	uint32_t i = (uint32_t)which;
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail_errno(-errno, "cannot make a socket");
	err = protocol_send(keeper->control, &i, sizeof(i), ends[1], MSG_DONTWAIT);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return fail_errno(err, "the senders' keeper has ended");
	}
	*ret = ends[0];
	return 0;
}

static int begin(struct sender *sender)
{
	return fork_one(sender->keeper, sender->i, &sender->sock);
}

int sender_keeper_fork_listener(struct sender_keeper *keeper, int *ret)
{
	return fork_one(keeper, keeper->n, ret);
}

static uint64_t time_for_all_ns(const struct sender *sender)
{
	long ms = sender->keeper->configs[sender->i].target.timeout_ms + SLACK_MS;

	return (uint64_t)ms * 1000000;
}

int sender_submit(struct sender *sender, const struct send_order *order)
{
	struct sender_job job = { .is_second = order->is_second, .part = order->part };
	int err = sender->sock < 0 ? begin(sender) : 0;

	snprintf(job.id, sizeof(job.id), "%s", order->id);
	if (!err)
		err = protocol_send(sender->sock, &job, sizeof(job), order->fd,
				    MSG_DONTWAIT);
	if (err) {
		let_go(sender);
		return fail_errno(err, "no sender takes a profile");
	}
	sender->is_busy = true;
	sender->deadline_ns = clock_now_ns() + time_for_all_ns(sender);
	return 0;
}

static int give_up(struct sender *sender, const char *why, struct send_answer *ret)
{
	*ret = (struct send_answer){ .outcome = SEND_LATER };
	snprintf(ret->text, sizeof(ret->text), "%s", why);
	let_go(sender);
	return 0;
}

int sender_collect(struct sender *sender, struct send_answer *ret)
{
	ssize_t n;

	if (!sender->is_busy)
		return SENDER_NOTHING_YET;
	n = protocol_recv(sender->sock, ret, sizeof(*ret), NULL, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return clock_now_ns() < sender->deadline_ns
			       ? SENDER_NOTHING_YET
			       : give_up(sender, "the sender does not answer", ret);
	if (n != (ssize_t)sizeof(*ret) || (unsigned int)ret->outcome > SEND_NEVER)
		return give_up(sender, "the sender has ended", ret);
	sender->is_busy = false;
	ret->text[sizeof(ret->text) - 1] = '\0';
	return 0;
}

int sender_fd(const struct sender *sender)
{
	return sender->is_busy ? sender->sock : -1;
}
