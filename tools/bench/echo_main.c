/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo: an echo server over epoll, with the header and without, and a client in
 * a process of its own that keeps 16 connections busy. The two take turns in one
 * process and on the same sockets. Prints ns of the server's CPU time a request,
 * with and without, medians; the ratio, of each turn's two, in thousandths.
 */
#include "echo.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURNS	 200
#define REQUESTS 2000

static struct connection connections[CONNECTIONS];

/* Sends each answer back as a request, until the server has ended. */
static void ask(int epoll)
{
	struct epoll_event events[CONNECTIONS];
	char bytes[BYTES];

	for (;;) {
		int n = epoll_wait(epoll, events, CONNECTIONS, -1);

		for (int i = 0; i < n; i++)
			if (read(events[i].data.fd, bytes, BYTES) != BYTES ||
			    write(events[i].data.fd, bytes, BYTES) != BYTES)
				_exit(0);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), by_size);
	return values[TURNS / 2];
}

static void take_turns(int epoll)
{
	static double with[TURNS], without[TURNS], ratio[TURNS];

	(void)serve_with(epoll, REQUESTS);
	for (int i = 0; i < TURNS; i++) {
		if (i % 2)
			with[i] = serve_with(epoll, REQUESTS);
		without[i] = serve_without(epoll, REQUESTS);
		if (i % 2 == 0)
			with[i] = serve_with(epoll, REQUESTS);
		ratio[i] = with[i] / without[i];
	}
	printf("%.1f %.1f %.4f\n", 1e9 * median(with), 1e9 * median(without),
	       median(ratio));
}

int main(void)
{
	int theirs = epoll_create1(0), mine = epoll_create1(0), fds[2];
	struct epoll_event event = { .events = EPOLLIN };
	char bytes[BYTES] = "hello";
	pid_t client;

	for (int i = 0; i < CONNECTIONS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			return 1;
		connections[i].fd = fds[0];
		weft_frame_mark(&connections[i].reads);
		event.data.ptr = &connections[i];
		epoll_ctl(mine, EPOLL_CTL_ADD, fds[0], &event);
		event.data.fd = fds[1];
		epoll_ctl(theirs, EPOLL_CTL_ADD, fds[1], &event);
		if (write(fds[1], bytes, BYTES) != BYTES)
			return 1;
	}
	client = fork();
	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ask(theirs);
	}
	take_turns(mine);
	kill(client, SIGKILL);
	return 0;
}
