/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: service [PORT]
 *
 * An HTTP service on 127.0.0.1, for `make demo`: one thread, everything a
 * callback. Prints "port N" when it listens; SIGTERM or SIGINT ends it.
 */
#include "http.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define HOUSEKEEPING_NS 200000000u

struct service {
	struct server server;
	struct watch signals;
};

static void on_signal(struct watch *watch, uint32_t events)
{
	loop_stop(&container_of(watch, struct service, signals)->server.loop);
}

static void rank_users(struct task *task)
{
	struct server *server = container_of(task, struct server, ranking);

	store_rank(server->store);
	loop_arm(&server->loop, &server->housekeeping, HOUSEKEEPING_NS);
}

static void on_housekeeping(struct timer *timer)
{
	struct server *server = container_of(timer, struct server, housekeeping);

	server->ranking.run = rank_users;
	weft_frame_mark(&server->ranking.frame);
	loop_defer(&server->loop, &server->ranking);
}

static int start_signals(struct service *service)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	service->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	service->signals.ready = on_signal;
	weft_frame_mark(&service->signals.frame);
	if (service->signals.fd < 0)
		return -errno;
	return loop_watch(&service->server.loop, &service->signals, EPOLLIN);
}

static void start_housekeeping(struct server *server)
{
	server->housekeeping.fire = on_housekeeping;
	weft_frame_mark(&server->housekeeping.frame);
	loop_arm(&server->loop, &server->housekeeping, HOUSEKEEPING_NS);
}

static int serve(struct service *service, uint16_t port)
{
	int err = start_signals(service);
	int bound = err ? err : server_listen(&service->server, port);

	if (bound < 0)
		return bound;
	start_housekeeping(&service->server);
	printf("port %d\n", bound);
	fflush(stdout);
	return run_loop(&service->server.loop);
}

int main(int argc, char **argv)
{
	unsigned long port = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct service *service;
	int err;

	if (argc > 2 || port > UINT16_MAX) {
		fprintf(stderr, "usage: service [PORT]\n");
		return 2;
	}
	service = calloc(1, sizeof(*service));
	if (!service || !(service->server.store = store_new()))
		err = -ENOMEM;
	else
		err = loop_init(&service->server.loop);
	if (!err)
		err = serve(service, (uint16_t)port);
	if (err) {
		fprintf(stderr, "service: %s\n", strerror(-err));
		return 1;
	}
	fprintf(stderr, "service: %llu answers\n", service->server.answered);
	loop_close(&service->server.loop);
	free(service->server.store);
	free(service);
	return 0;
}
