// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/listener.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "deliver/listener_child.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX	   "unix:"
#define WAIT_NS	   SECOND_NS /* from one process to the next */
#define BACKLOG	   16
#define HOST_BYTES 64

struct listener {
	const struct listener_config *config;
	struct sender_keeper *keeper;
	char address[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(UNIX)];
	bool is_bound; /* its path is ours */
	int listening;
	int sock; /* -1: no process */
	uint64_t due_ns, restarts;
};

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static int no_address(const char *text)
{
	fail(-EINVAL, "'%s' is no address to listen at", text);
	return fail_hint(-EINVAL,
			 "write it like 127.0.0.1:9464 or unix:/run/weft/agent.sock");
}

static int read_path(const char *path, union address *ret, socklen_t *ret_n)
{
	size_t n = strlen(path);

	if (*path != '/' || n >= sizeof(ret->un.sun_path))
		return -EINVAL;
	ret->un.sun_family = AF_UNIX;
	memcpy(ret->un.sun_path, path, n + 1);
	*ret_n = sizeof(ret->un);
	return 0;
}

/* getaddrinfo() would take what is larger modulo 65536. */
static bool is_port(const char *s)
{
	return strlen(s) <= 5 && !s[strspn(s, "0123456789")] && atoi(s) <= 65535;
}

/* HOST:PORT in numbers: who listens should not depend on what names mean today. One name
 * means the same every day. */
static int read_net(const char *text, union address *ret, socklen_t *ret_n)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found = NULL;
	char host[HOST_BYTES];
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!n || !colon[1] || !is_port(colon + 1) || n >= sizeof(host))
		return -EINVAL;
	if (*text == '[' && text[n - 1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, text + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)n, text);
	if (!strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	if (getaddrinfo(host, colon + 1, &hints, &found))
		return -EINVAL;
	*ret_n = found->ai_addrlen;
	memcpy(ret, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

static int read_address(const char *text, union address *ret, socklen_t *ret_n)
{
	size_t n = strlen(UNIX);
	int err = strncmp(text, UNIX, n) ? read_net(text, ret, ret_n)
					 : read_path(text + n, ret, ret_n);

	return err ? no_address(text) : 0;
}

static bool is_public(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->in.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
	return address->any.sa_family == AF_INET6 &&
	       !IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
}

int listener_is_public(const char *address)
{
	union address read = { 0 };
	socklen_t n;
	int err = read_address(address, &read, &n);

	return err ? err : is_public(&read);
}

/* A socket that an agent left which was killed. */
static void remove_stale(const union address *address, socklen_t n)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (lstat(address->un.sun_path, &st) || !S_ISSOCK(st.st_mode))
		return;
	if (fd >= 0 && connect(fd, &address->any, n) && errno == ECONNREFUSED)
		unlink(address->un.sun_path);
}

static int bind_it(struct listener *listener, const union address *address, socklen_t n)
{
	const int yes = 1;
	mode_t before;
	int err;

	if (address->any.sa_family == AF_UNIX)
		remove_stale(address, n);
	else
		setsockopt(listener->listening, SOL_SOCKET, SO_REUSEADDR, &yes,
			   sizeof(yes));
	before = umask(0177);
	err = bind(listener->listening, &address->any, n) ? -errno : 0;
	umask(before);
	listener->is_bound = !err;
	if (!err && listen(listener->listening, BACKLOG))
		err = -errno;
	return err;
}

static void say_address(struct listener *listener)
{
	union address address = { 0 };
	socklen_t n = sizeof(address);
	char host[HOST_BYTES] = "", port[16] = "";

	snprintf(listener->address, sizeof(listener->address), "%s",
		 listener->config->address);
	if (getsockname(listener->listening, &address.any, &n) ||
	    address.any.sa_family == AF_UNIX ||
	    getnameinfo(&address.any, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(listener->address, sizeof(listener->address),
		 address.any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static int open_socket(struct listener *listener)
{
	union address address = { 0 };
	socklen_t n = 0;
	int err = read_address(listener->config->address, &address, &n);

	if (err)
		return err;
	listener->listening = socket(address.any.sa_family,
				     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = listener->listening < 0 ? -errno : bind_it(listener, &address, n);
	if (err)
		return fail_errno(err, "cannot listen at %s", listener->config->address);
	say_address(listener);
	return 0;
}

/* A process, its socket and whom it may let in. */
static int begin(struct listener *listener)
{
	const char *token = listener->config->token;
	struct listener_setup setup = {
		.is_local_net = strncmp(listener->address, UNIX, strlen(UNIX)) &&
				listener_is_public(listener->address) == 0,
	};
	int sock, err = sender_keeper_fork_listener(listener->keeper, &sock);

	if (err)
		return err;
	snprintf(setup.token, sizeof(setup.token), "%s", token ? token : "");
	err = protocol_send(sock, &setup, sizeof(setup), listener->listening,
			    MSG_DONTWAIT);
	if (err) {
		close(sock);
		return fail_errno(err, "no process that listens");
	}
	listener->sock = sock;
	return 0;
}

int listener_new(struct listener **ret, struct sender_keeper *keeper,
		 const struct listener_config *config)
{
	AUTO(listener) listener = calloc(1, sizeof(*listener));
	int err;

	if (!listener)
		return fail(-ENOMEM, "no memory for a listener");
	listener->config = config;
	listener->keeper = keeper;
	listener->listening = listener->sock = -1;
	err = open_socket(listener);
	if (!err)
		err = begin(listener);
	if (err)
		return err;
	*ret = GIVE(listener);
	return 0;
}

void listener_free(struct listener *listener)
{
	size_t n = strlen(UNIX);

	if (!listener)
		return;
	if (listener->sock >= 0)
		close(listener->sock);
	if (listener->listening >= 0)
		close(listener->listening);
	if (listener->is_bound && !strncmp(listener->config->address, UNIX, n))
		unlink(listener->config->address + n);
	free(listener);
}

const char *listener_address(const struct listener *listener)
{
	return listener->address;
}

void listener_step(struct listener *listener, uint64_t now_ns)
{
	if (listener->sock >= 0 || now_ns < listener->due_ns)
		return;
	listener->restarts++;
	listener->due_ns = now_ns + WAIT_NS;
	if (!begin(listener))
		return;
	log_warn("%s", error_sentence());
	error_clear();
}

int listener_fd(const struct listener *listener)
{
	return listener->sock;
}

static void it_ended(struct listener *listener)
{
	log_warn("the process that listens at %s has ended", listener->address);
	close(listener->sock);
	listener->sock = -1;
	listener->due_ns = clock_now_ns() + WAIT_NS;
}

/* What it says is as little to be believed as what it was told by others. */
static bool is_question(const struct listener_question *question)
{
	return question->question < N_QUESTIONS && question->view <= VIEW_THREAD &&
	       (question->question != QUESTION_PROFILE ||
		(question->seconds && question->seconds <= LISTENER_SECONDS_MAX));
}

int listener_ask(struct listener *listener, struct listener_question *ret)
{
	ssize_t n;

	if (listener->sock < 0)
		return LISTENER_NO_QUESTION;
	n = protocol_recv(listener->sock, ret, sizeof(*ret), NULL, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return LISTENER_NO_QUESTION;
	if (n == (ssize_t)sizeof(*ret) && is_question(ret))
		return 0;
	it_ended(listener);
	return LISTENER_NO_QUESTION;
}

static int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("weft-answer", MFD_CLOEXEC);
	ssize_t written;

	for (size_t at = 0; fd >= 0 && at < n; at += (size_t)written) {
		written = write(fd, (const char *)bytes + at, n - at);
		if (written > 0)
			continue;
		close(fd);
		return -1;
	}
	return fd;
}

void listener_answer_file(struct listener *listener, uint32_t id, unsigned int status,
			  int fd)
{
	struct listener_reply reply = { .id = id, .status = status };
	struct stat st;

	if (listener->sock < 0 || fstat(fd, &st))
		return;
	reply.n = (uint64_t)st.st_size;
	if (protocol_send(listener->sock, &reply, sizeof(reply), fd, MSG_DONTWAIT))
		it_ended(listener);
}

void listener_answer(struct listener *listener, uint32_t id, unsigned int status,
		     const void *bytes, size_t n)
{
	AUTO_CLOSE int fd = memory_file(bytes, n);

	if (fd >= 0)
		listener_answer_file(listener, id, status, fd);
}

uint64_t listener_restarts(const struct listener *listener)
{
	return listener->restarts;
}
