/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the service does. Each handler is a few steps with the loop's queue, or
 * its timers, in between; the thread's stack never holds more than one.
 *
 *	/users/N   handle_users > look_up_user > show_user > send_answer
 *	/report    handle_report > render_rows (in slices) > compress_report > …
 *	/digest    handle_digest > hash_round (by timer) > show_digest > …
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>

#define ROWS	      160
#define ROWS_A_SLICE  40
#define ROUNDS	      4
#define ROUND_BYTES   16384
#define ROUND_GAP_NS  500000
#define NUMBER_DIGITS 10

_Static_assert(ROWS * 128 <= TEXT_BYTES, "a row is at most 128 bytes");
_Static_assert(ROUND_BYTES <= TEXT_BYTES, "a round hashes part of the text");

/* Formatting of our own: libc's has no frame pointers to walk through. */
static void add(struct request *request, const char *s)
{
	size_t n = strlen(s);

	if (n > TEXT_BYTES - request->n_text)
		n = TEXT_BYTES - request->n_text;
	memcpy(request->text + request->n_text, s, n);
	request->n_text += n;
}

static void add_number(struct request *request, uint32_t number)
{
	char digits[NUMBER_DIGITS + 1] = { 0 };
	int at = NUMBER_DIGITS;

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	add(request, digits + at);
}

static void add_user(struct request *request, const struct user *user)
{
	add(request, "{\"number\": ");
	add_number(request, user->number);
	add(request, ", \"name\": \"");
	add(request, user->name);
	add(request, "\", \"city\": \"");
	add(request, user->city);
	add(request, "\", \"visits\": ");
	add_number(request, user->visits);
	add(request, ", \"cents\": ");
	add_number(request, user->cents);
	add(request, "}\n");
}

static void show_user(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, send_answer);

	if (request->user)
		add_user(request, request->user);
	else
		add(request, "{\"error\": \"no such user\"}\n");
	answer_text(request, request->user ? 200 : 404, "application/json");
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void look_up_user(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, show_user);

	request->user = store_find(request_server(request)->store, request->number);
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void handle_users(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, look_up_user);

	request->number = (uint32_t)strtoul(request->path + strlen("/users/"), NULL, 10);
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void compress_report(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, send_answer);

	answer_deflated(request, "application/json");
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void render_rows(struct task *task)
{
	struct request *request = task->owner;
	struct server *server = request_server(request);
	struct task *step;

	for (int i = 0; i < ROWS_A_SLICE; i++)
		add_user(request, server->store->best[request->number++]);
	if (request->number < ROWS) {
		/* the same operation goes on: its frame stays as it is */
		loop_defer(&server->loop, task);
		return;
	}
	step = request_step(request, compress_report);
	weft_frame_mark(&step->frame);
	loop_defer(&server->loop, step);
}

static void handle_report(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, render_rows);

	request->number = 0;
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void show_digest(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, send_answer);

	request->n_text = 0;
	for (int i = 0; i < SHA256_BYTES; i++) {
		char hex[3] = { "0123456789abcdef"[request->digest[i] >> 4],
				"0123456789abcdef"[request->digest[i] & 15], '\0' };

		add(request, hex);
	}
	add(request, "\n");
	answer_text(request, 200, "text/plain");
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void hash_round(struct timer *timer)
{
	struct request *request = container_of(timer, struct request, pace);
	struct server *server = request_server(request);
	struct task *step;

	memcpy(request->text, request->digest, SHA256_BYTES);
	sha256(request->digest, request->text, ROUND_BYTES);
	if (++request->number < ROUNDS) {
		loop_arm(&server->loop, timer, ROUND_GAP_NS);
		return;
	}
	step = request_step(request, show_digest);
	weft_frame_mark(&step->frame);
	loop_defer(&server->loop, step);
}

static void handle_digest(struct task *task)
{
	struct request *request = task->owner;

	request->number = 0;
	request->n_text = 0;
	memset(request->digest, 0, sizeof(request->digest));
	memset(request->text, 'w', ROUND_BYTES);
	request->pace.fire = hash_round;
	weft_frame_mark(&request->pace.frame);
	loop_arm(&request_server(request)->loop, &request->pace, ROUND_GAP_NS);
}

static void refuse(struct task *task)
{
	struct request *request = task->owner;
	struct task *step = request_step(request, send_answer);

	add(request, "cannot answer that\n");
	answer_text(request, request->status, "text/plain");
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}

static void not_found(struct task *task)
{
	struct request *request = task->owner;

	request->status = 404;
	refuse(task);
}

void on_request_parsed(struct task *task)
{
	static const struct {
		const char *prefix;
		void (*run)(struct task *task);
	} routes[] = { { "/users/", handle_users },
		       { "/report", handle_report },
		       { "/digest", handle_digest },
		       { "", not_found } };
	struct request *request = task->owner;
	struct task *step;
	size_t i = 0;

	while (strncmp(request->path, routes[i].prefix, strlen(routes[i].prefix)))
		i++;
	step = request_step(request, request->status ? refuse : routes[i].run);
	weft_frame_mark(&step->frame);
	loop_defer(&request_server(request)->loop, step);
}
