/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service's HTTP/1.1 side: connections, each with one request at a time,
 * and what a handler needs to answer one. A request goes from step to step,
 * each a task of its own in the loop's queue, and the steps' frames make the
 * chain that a profiler shows.
 *
 * Connections lie in one array and are used again, never freed, so a frame's
 * memory is always a frame's. Every buffer is bounded; what does not fit is
 * answered with an error or closed.
 */
#ifndef DEMO_HTTP_H
#define DEMO_HTTP_H

#include "loop.h"
#include "sha256.h"
#include "store.h"

#define CONNECTIONS_MAX 64
#define STEPS_MAX	8
#define IN_BYTES	4096
#define TEXT_BYTES	24576
#define OUT_BYTES	28672 /* head, and TEXT_BYTES that compression made worse */
#define PATH_BYTES	128

_Static_assert(2 * CONNECTIONS_MAX + 1 <= TIMERS_MAX, "loop_arm() never fails");

struct request {
	char path[PATH_BYTES];
	int status; /* 0, or what is wrong with the request */
	bool keep_alive;
	struct task steps[STEPS_MAX];
	unsigned int n_steps;
	struct timer pace;

	/* what handlers keep from step to step */
	uint32_t number;
	const struct user *user;
	uint8_t digest[SHA256_BYTES];
	size_t n_text;
	char text[TEXT_BYTES];
};

struct connection {
	struct server *server;
	struct connection *next_free;
	struct watch watch;
	struct task again; /* a request that came with the one before */
	struct timer idle;
	bool busy;    /* from a whole request to the end of its answer */
	bool ended;   /* the other side will send no more */
	bool watched; /* by the loop */
	size_t n_in, n_out, sent;
	char in[IN_BYTES];
	char out[OUT_BYTES];
	struct request request;
};

struct server {
	struct loop loop;
	struct watch listener;
	struct store *store;
	struct timer housekeeping;
	struct task ranking;
	unsigned long long answered;
	struct connection *free;
	struct connection connections[CONNECTIONS_MAX];
};

/* Listens on 127.0.0.1; port 0: any. Returns the port or a negative errno. */
int server_listen(struct server *server, uint16_t port);

struct connection *request_connection(struct request *request);
struct server *request_server(struct request *request);

/*
 * The request's next step, to be marked and deferred; its owner is the request.
 * No handler takes more than STEPS_MAX; one that did would abort.
 */
struct task *request_step(struct request *request, void (*run)(struct task *task));

/* Writes the answer to be sent; the body is the request's text, whole or, with
 * deflate, compressed. */
void answer_text(struct request *request, int status, const char *type);
void answer_deflated(struct request *request, const char *type);

void send_answer(struct task *step); /* the last step of every request */

/* Where a whole request goes: routes.c */
void on_request_parsed(struct task *step);

#endif
