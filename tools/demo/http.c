/* SPDX-License-Identifier: BSD-2-Clause */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#define IDLE_NS	   10000000000u
#define HEAD_BYTES 256

struct connection *request_connection(struct request *request)
{
	return container_of(request, struct connection, request);
}

struct server *request_server(struct request *request)
{
	return request_connection(request)->server;
}

struct task *request_step(struct request *request, void (*run)(struct task *task))
{
	struct task *step;

	if (request->n_steps == STEPS_MAX)
		abort();
	step = &request->steps[request->n_steps++];
	step->run = run;
	step->owner = request;
	return step;
}

static void stop_reading(struct connection *connection)
{
	if (connection->watched)
		loop_unwatch(&connection->server->loop, &connection->watch);
	connection->watched = false;
}

static void connection_close(struct connection *connection)
{
	struct server *server = connection->server;

	stop_reading(connection);
	loop_disarm(&server->loop, &connection->idle);
	loop_disarm(&server->loop, &connection->request.pace);
	close(connection->watch.fd);
	connection->next_free = server->free;
	server->free = connection;
}

static bool has_header(const char *head, const char *header)
{
	return strcasestr(head, header);
}

static void parse_request(struct request *request, char *head)
{
	char *path = strchr(head, ' ');
	char *end = path ? strchr(path + 1, ' ') : NULL;

	request->n_steps = 0;
	request->n_text = 0;
	request->status = 0;
	request->keep_alive = false;
	if (!end || strncmp(end, " HTTP/1.1\r\n", 11) ||
	    (size_t)(end - path) > sizeof(request->path)) {
		request->status = 400;
		return;
	}
	*end = '\0';
	strcpy(request->path, path + 1);
	if (strncmp(head, "GET ", 4))
		request->status = 405;
	else if (has_header(end + 1, "\r\nContent-Length:") ||
		 has_header(end + 1, "\r\nTransfer-Encoding:"))
		request->status = 413;
	else
		request->keep_alive = !has_header(end + 1, "\r\nConnection: close\r\n");
}

/* Takes one request out of what came in, if it is there whole. */
static bool take_request(struct connection *connection)
{
	char *end = memmem(connection->in, connection->n_in, "\r\n\r\n", 4);
	size_t n;

	if (!end && connection->n_in < IN_BYTES)
		return false;
	n = end ? (size_t)(end - connection->in) + 4 : IN_BYTES;
	if (end) {
		end[2] = '\0'; /* keeps the last header's line end */
		parse_request(&connection->request, connection->in);
	} else {
		parse_request(&connection->request, (char[]){ "" });
		connection->request.status = 431;
	}
	connection->n_in -= n;
	memmove(connection->in, connection->in + n, connection->n_in);
	connection->busy = true;
	loop_disarm(&connection->server->loop, &connection->idle);
	return true;
}

static void on_readable(struct watch *watch, uint32_t events)
{
	struct connection *connection = container_of(watch, struct connection, watch);
	size_t room = IN_BYTES - connection->n_in;
	ssize_t n = room ? read(watch->fd, connection->in + connection->n_in, room) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* the end, or more at once than we take while busy */
		connection->ended = n || room;
		stop_reading(connection);
		if (!connection->busy)
			connection_close(connection);
		return;
	}
	connection->n_in += (size_t)n;
	if (!connection->busy && take_request(connection)) {
		struct request *request = &connection->request;
		struct task *step = request_step(request, on_request_parsed);

		weft_frame_mark(&step->frame);
		loop_defer(&connection->server->loop, step);
	}
}

static void on_more(struct task *task)
{
	struct connection *connection = task->owner;

	connection->busy = false;
	if (take_request(connection)) {
		struct request *request = &connection->request;
		struct task *step = request_step(request, on_request_parsed);

		weft_frame_mark(&step->frame);
		loop_defer(&connection->server->loop, step);
	} else if (connection->ended) {
		connection_close(connection);
	}
}

static void finish_answer(struct connection *connection)
{
	struct loop *loop = &connection->server->loop;

	connection->server->answered++;
	if (!connection->request.keep_alive) {
		connection_close(connection);
		return;
	}
	if (!connection->watched && !connection->ended)
		connection->watched = !loop_watch(loop, &connection->watch, EPOLLIN);
	loop_arm(loop, &connection->idle, IDLE_NS);
	connection->busy = connection->n_in || connection->ended;
	/* not marked here: its frame is of when the connection came, since what
	 * follows was not asked for by the request that is over */
	if (connection->busy)
		loop_defer(loop, &connection->again);
}

static void on_writable(struct watch *watch, uint32_t events);

static void wait_for_room(struct connection *connection)
{
	struct loop *loop = &connection->server->loop;

	stop_reading(connection);
	connection->watch.ready = on_writable;
	connection->watched = !loop_watch(loop, &connection->watch, EPOLLOUT);
	if (connection->watched)
		loop_arm(loop, &connection->idle, IDLE_NS);
	else
		connection_close(connection);
}

/* How many bytes of the answer went out; negative: nobody is there any more. */
static ssize_t send_some(struct connection *connection)
{
	ssize_t n = send(connection->watch.fd, connection->out + connection->sent,
			 connection->n_out - connection->sent, MSG_NOSIGNAL);

	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

static void go_on_sending(struct connection *connection, ssize_t n)
{
	connection->sent += n > 0 ? (size_t)n : 0;
	if (n < 0)
		connection_close(connection);
	else if (connection->sent == connection->n_out)
		finish_answer(connection);
	else
		wait_for_room(connection);
}

static void on_writable(struct watch *watch, uint32_t events)
{
	struct connection *connection = container_of(watch, struct connection, watch);

	stop_reading(connection);
	watch->ready = on_readable;
	go_on_sending(connection, send_some(connection));
}

void send_answer(struct task *step)
{
	struct connection *connection = request_connection(step->owner);

	go_on_sending(connection, send_some(connection));
}

static size_t put_head(struct request *request, int status, const char *type,
		       const char *encoding, size_t n_body)
{
	struct connection *connection = request_connection(request);

	connection->sent = 0;
	return (size_t)snprintf(connection->out, HEAD_BYTES,
				"HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s"
				"Content-Length: %zu\r\n%s\r\n",
				status, status == 200 ? "OK" : "Error", type, encoding,
				n_body,
				request->keep_alive ? "" : "Connection: close\r\n");
}

void answer_text(struct request *request, int status, const char *type)
{
	struct connection *connection = request_connection(request);
	size_t n = put_head(request, status, type, "", request->n_text);

	memcpy(connection->out + n, request->text, request->n_text);
	connection->n_out = n + request->n_text;
}

void answer_deflated(struct request *request, const char *type)
{
	struct connection *connection = request_connection(request);
	char *body = connection->out + HEAD_BYTES;
	uLongf n_body = OUT_BYTES - HEAD_BYTES;
	size_t n;

	if (compress((Bytef *)body, &n_body, (Bytef *)request->text, request->n_text)) {
		answer_text(request, 200, type);
		return;
	}
	n = put_head(request, 200, type, "Content-Encoding: deflate\r\n", n_body);
	memmove(connection->out + n, body, n_body);
	connection->n_out = n + n_body;
}

static void on_idle(struct timer *timer)
{
	connection_close(container_of(timer, struct connection, idle));
}

static void on_acceptable(struct watch *listener, uint32_t events)
{
	struct server *server = container_of(listener, struct server, listener);
	int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct connection *connection = server->free;

	if (fd < 0)
		return;
	if (!connection) {
		close(fd);
		return;
	}
	connection->watch.fd = fd;
	connection->watch.ready = on_readable;
	connection->busy = connection->ended = false;
	connection->n_in = 0;
	weft_frame_mark(&connection->watch.frame);
	weft_frame_mark(&connection->again.frame);
	weft_frame_mark(&connection->idle.frame);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (loop_watch(&server->loop, &connection->watch, EPOLLIN)) {
		close(fd);
		return;
	}
	connection->watched = true;
	server->free = connection->next_free;
	loop_arm(&server->loop, &connection->idle, IDLE_NS);
}

int server_listen(struct server *server, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -errno;
	for (size_t i = CONNECTIONS_MAX; i-- > 0;) {
		struct connection *connection = &server->connections[i];

		connection->server = server;
		connection->again.run = on_more;
		connection->again.owner = connection;
		connection->idle.fire = on_idle;
		connection->next_free = server->free;
		server->free = connection;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	server->listener.fd = fd;
	server->listener.ready = on_acceptable;
	weft_frame_mark(&server->listener.frame);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&address, &n) ||
	    loop_watch(&server->loop, &server->listener, EPOLLIN)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return ntohs(address.sin_port);
}
