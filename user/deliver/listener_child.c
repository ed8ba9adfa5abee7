// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/listener_child.h"

#include "base/clock.h"
#include "base/library.h"
#include "core/view.h"
#include "deliver/listener_connections.h"
#include "deliver/listener_sandbox.h"
#include "worker/worker_protocol.h"
#include "worker/worker_sandbox.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ASKED_MAX     16U
#define ASKED_KEPT    4U /* of these, for what is answered at once */
#define REQUEST_BYTES (16U << 10)
#define IDLE_S	      15U
#define ANSWER_S      30 /* that the agent has, beyond the seconds of a profile */
#define POLL_MS	      1000

#define MHD_FUNCTIONS(X)                                                                 \
	X(MHD_start_daemon)                                                              \
	X(MHD_run)                                                                       \
	X(MHD_get_timeout)                                                               \
	X(MHD_get_daemon_info)                                                           \
	X(MHD_get_connection_info)                                                       \
	X(MHD_suspend_connection)                                                        \
	X(MHD_resume_connection)                                                         \
	X(MHD_create_response_from_buffer)                                               \
	X(MHD_add_response_header)                                                       \
	X(MHD_queue_response)                                                            \
	X(MHD_destroy_response)                                                          \
	X(MHD_lookup_connection_value)

struct mhd_library {
#define X(name) __typeof__(name) *name;
	MHD_FUNCTIONS(X)
#undef X
};

/* A request that waits for the agent. */
struct asked {
	uint32_t id; /* 0: the place is free */
	enum question question;
	struct MHD_Connection *connection;
	uint64_t until_ns;
	bool is_answered;
	unsigned int status;
	char *body; /* owned; NULL: none */
	size_t n;
};

struct child {
	struct mhd_library lib;
	struct MHD_Daemon *daemon;
	struct listener_setup setup;
	int sock, epoll;
	uint32_t next_id;
	struct asked asked[ASKED_MAX];
	struct connections connections;
};

static const struct page {
	const char *path;
	const char *type;
	enum question question;
} pages[] = {
	{ "/", "text/html; charset=utf-8", QUESTION_STATUS },
	{ "/window.html", "text/html; charset=utf-8", QUESTION_WINDOW },
	{ "/metrics", "text/plain; version=0.0.4; charset=utf-8", QUESTION_METRICS },
	{ "/healthz", "text/plain; charset=utf-8", QUESTION_HEALTH },
	{ "/readyz", "text/plain; charset=utf-8", QUESTION_READY },
	{ "/debug/pprof/profile", "application/octet-stream", QUESTION_PROFILE },
};

static const char *type_of(const struct asked *asked)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (pages[i].question == asked->question && asked->status == 200)
			return pages[i].type;
	return "text/plain; charset=utf-8";
}

/* bytes: NULL, or allocated, and then given away. */
static enum MHD_Result answer(struct child *child, struct MHD_Connection *connection,
			      const struct asked *asked)
{
	struct MHD_Response *response = child->lib.MHD_create_response_from_buffer(
		asked->n, asked->body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result ret;

	if (!response) {
		free(asked->body);
		return MHD_NO;
	}
	child->lib.MHD_add_response_header(response, "Content-Type", type_of(asked));
	child->lib.MHD_add_response_header(response, "Cache-Control", "no-store");
	child->lib.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	child->lib.MHD_add_response_header(response, "X-Frame-Options", "SAMEORIGIN");
	if (asked->status == 401)
		child->lib.MHD_add_response_header(response, "WWW-Authenticate",
						   "Bearer");
	if (asked->status == 405)
		child->lib.MHD_add_response_header(response, "Allow", "GET, HEAD");
	ret = child->lib.MHD_queue_response(connection, asked->status, response);
	child->lib.MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result refuse(struct child *child, struct MHD_Connection *connection,
			      unsigned int status, const char *why)
{
	struct asked said = { .status = status, .body = strdup(why), .n = strlen(why) };

	return said.body ? answer(child, connection, &said) : MHD_NO;
}

static const char *header(struct child *child, struct MHD_Connection *connection,
			  const char *name)
{
	return child->lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* In a time that does not tell how much of it was right. */
static bool has_token(const char *shown, const char *token)
{
	static const char bearer[] = "Bearer ";
	size_t n = strlen(token);
	unsigned int different = 0;

	if (!shown || strncasecmp(shown, bearer, sizeof(bearer) - 1))
		return false;
	shown += sizeof(bearer) - 1;
	if (strlen(shown) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		different |= (unsigned char)(shown[i] ^ token[i]);
	return !different;
}

/* Does a browser of this machine ask for itself? A page from elsewhere could have let
 * its own name point to us. */
static bool is_our_name(const char *host)
{
	static const char *const ours[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < sizeof(ours) / sizeof(*ours); i++) {
		size_t n = strlen(ours[i]);

		if (!strncmp(host, ours[i], n) && (!host[n] || host[n] == ':'))
			return true;
	}
	return host && !strncmp(host, "127.", 4) &&
	       host[strspn(host, "0123456789.:")] == '\0';
}

/* The argument of a URL in seconds; false: it is none. */
static bool read_seconds(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long seconds;

	*ret = 30; /* as Go's servers have it */
	if (!text)
		return true;
	seconds = strtoul(text, &end, 10);
	*ret = (uint32_t)seconds;
	return *text >= '0' && *text <= '9' && !*end && seconds >= 1 &&
	       seconds <= LISTENER_SECONDS_MAX;
}

static bool read_view(const char *text, uint32_t *ret)
{
	*ret = text && !strcmp(text, "thread") ? VIEW_THREAD : VIEW_ASYNC;
	return !text || *ret == VIEW_THREAD || !strcmp(text, "async");
}

/* A page or a profile is waited for, and may be read slowly. */
static struct asked *free_place(struct child *child, enum question question)
{
	bool is_long = question == QUESTION_PROFILE || question == QUESTION_WINDOW;

	for (size_t i = is_long ? ASKED_KEPT : 0; i < ASKED_MAX; i++)
		if (!child->asked[i].id)
			return &child->asked[i];
	return NULL;
}

static enum MHD_Result ask(struct child *child, struct MHD_Connection *connection,
			   const struct page *page, void **ret)
{
	struct listener_question question = { .question = page->question };
	struct asked *asked = free_place(child, page->question);

	if (page->question == QUESTION_PROFILE &&
	    (!read_seconds(child->lib.MHD_lookup_connection_value(
				   connection, MHD_GET_ARGUMENT_KIND, "seconds"),
			   &question.seconds) ||
	     !read_view(child->lib.MHD_lookup_connection_value(
				connection, MHD_GET_ARGUMENT_KIND, "view"),
			&question.view)))
		return refuse(child, connection, 400,
			      "seconds: 1 to 600; view: async or thread\n");
	if (!asked)
		return refuse(child, connection, 503, "too many wait already\n");
	if (!++child->next_id)
		child->next_id = 1;
	question.id = child->next_id;
	*asked = (struct asked){
		.id = question.id,
		.question = page->question,
		.connection = connection,
		.until_ns = clock_now_ns() + (question.seconds + ANSWER_S) * SECOND_NS,
	};
	if (protocol_send(child->sock, &question, sizeof(question), -1, MSG_DONTWAIT)) {
		asked->id = 0;
		return refuse(child, connection, 503, "the agent is busy\n");
	}
	*ret = asked;
	child->lib.MHD_suspend_connection(connection);
	return MHD_YES;
}

static enum MHD_Result first_look(struct child *child, struct MHD_Connection *connection,
				  const char *url, const char *method, void **ret)
{
	if (child->setup.is_local_net && !*child->setup.token &&
	    !is_our_name(header(child, connection, "Host")))
		return refuse(child, connection, 421, "who is asked for is not here\n");
	if (*child->setup.token &&
	    !has_token(header(child, connection, "Authorization"), child->setup.token))
		return refuse(child, connection, 401, "a token is needed\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(child, connection, 405, "only GET\n");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(pages[i].path, url))
			return ask(child, connection, &pages[i], ret);
	return refuse(child, connection, 404, "there is nothing here\n");
}

/* How libmicrohttpd calls it. */
#define REQUEST_PARAMETERS                                                               \
	void *arg, struct MHD_Connection *connection, const char *url,                   \
		const char *method, const char *version, const char *upload,             \
		size_t *upload_n, void **of_request

static enum MHD_Result on_request(REQUEST_PARAMETERS)
{
	struct child *child = arg;
	struct asked *asked = *of_request;
	enum MHD_Result ret;

	if (!asked)
		return first_look(child, connection, url, method, of_request);
	if (!asked->is_answered)
		return MHD_YES;
	ret = answer(child, connection, asked);
	asked->body = NULL; /* given away */
	return ret;
}

static void on_end(void *arg, struct MHD_Connection *connection, void **of_request,
		   enum MHD_RequestTerminationCode why)
{
	struct asked *asked = *of_request;

	if (!asked)
		return;
	free(asked->body);
	*asked = (struct asked){ 0 };
	*of_request = NULL;
}

static bool is_busy(void *arg, const void *key)
{
	const struct child *child = arg;

	for (size_t i = 0; i < ASKED_MAX; i++)
		if (child->asked[i].id && child->asked[i].connection == key)
			return true;
	return false;
}

static void on_connection(void *arg, struct MHD_Connection *connection,
			  void **of_connection, enum MHD_ConnectionNotificationCode what)
{
	struct child *child = arg;
	const union MHD_ConnectionInfo *info;

	if (what != MHD_CONNECTION_NOTIFY_STARTED) {
		connections_remove(&child->connections, connection);
		return;
	}
	info = child->lib.MHD_get_connection_info(connection,
						  MHD_CONNECTION_INFO_CONNECTION_FD);
	connections_add(&child->connections, connection, info ? info->connect_fd : -1);
	connections_make_room(&child->connections, is_busy, child);
}

static void take_answer(struct child *child, struct asked *asked, unsigned int status)
{
	asked->status = status;
	asked->is_answered = true;
	child->lib.MHD_resume_connection(asked->connection);
}

static void read_body(struct asked *asked, int fd, uint64_t n)
{
	asked->body = malloc(n + 1);
	if (asked->body && pread(fd, asked->body, n, 0) == (ssize_t)n)
		asked->n = n;
}

static int on_reply(struct child *child)
{
	struct listener_reply reply;
	AUTO_CLOSE int fd = -1;
	ssize_t n = protocol_recv(child->sock, &reply, sizeof(reply), &fd, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return -EAGAIN;
	if (n != (ssize_t)sizeof(reply) || fd < 0)
		_exit(0); /* the agent has ended */
	for (size_t i = 0; i < ASKED_MAX; i++) {
		struct asked *asked = &child->asked[i];

		if (asked->id != reply.id || asked->is_answered)
			continue;
		read_body(asked, fd, reply.n);
		take_answer(child, asked, asked->n == reply.n ? reply.status : 503);
	}
	return 0;
}

static void give_up_late(struct child *child)
{
	static const char why[] = "the agent does not answer\n";
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < ASKED_MAX; i++) {
		struct asked *asked = &child->asked[i];

		if (!asked->id || asked->is_answered || now < asked->until_ns)
			continue;
		asked->body = strdup(why);
		asked->n = asked->body ? sizeof(why) - 1 : 0;
		take_answer(child, asked, 503);
	}
}

static bool load(struct mhd_library *lib)
{
	void *handle = library_load("libmicrohttpd.so.12");
	bool all = handle != NULL;

#define X(name)                                                                          \
	lib->name = handle ? (__typeof__(name) *)library_function(handle, #name) : NULL; \
	all &= lib->name != NULL;
	MHD_FUNCTIONS(X)
#undef X
	return all;
}

static bool start(struct child *child, int listening)
{
	const union MHD_DaemonInfo *info;

	child->daemon = child->lib.MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request,
		child, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, child, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, child, MHD_OPTION_END);
	if (!child->daemon)
		return false;
	info = child->lib.MHD_get_daemon_info(child->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	child->epoll = info ? info->epoll_fd : -1;
	return child->epoll >= 0;
}

static int timeout_ms(struct child *child)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (child->lib.MHD_get_timeout(child->daemon, &ms) != MHD_YES || ms > POLL_MS)
		return POLL_MS;
	return (int)ms;
}

void listener_child_run(int sock, pid_t keeper)
{
	static struct child child;
	int listening = -1;

	prctl(PR_SET_NAME, "weft-listener");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(1);
	child.sock = sandbox_files(sock);
	if (protocol_recv(child.sock, &child.setup, sizeof(child.setup), &listening, 0) !=
		    (ssize_t)sizeof(child.setup) ||
	    listening < 0 || !load(&child.lib) || !start(&child, listening))
		_exit(1);
	listener_sandbox();
	for (;;) {
		struct pollfd fds[] = { { .fd = child.epoll, .events = POLLIN },
					{ .fd = child.sock, .events = POLLIN } };

		if (poll(fds, 2, timeout_ms(&child)) < 0 && errno != EINTR)
			_exit(1);
		while (!on_reply(&child))
			;
		give_up_late(&child);
		child.lib.MHD_run(child.daemon);
	}
}
