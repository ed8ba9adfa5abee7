/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spool in which each byte of a profile was damaged, and which was cut at each length,
 * goes out as after a start: by the true sender to a server that keeps what came. Each
 * file is delivered once, with the samples that it had, or told as refused; what is
 * whole between them all arrives, in order.
 *
 *	test_spool_damage [FILE...]	these instead of a profile made by hand
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "deliver/exporter.h"
#include "deliver/pack.h"
#include "made.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "read_back.h"

#define NAME_REST    "-20261125T000000Z-async.pb.gz"
#define DIGITS	     12
#define BATCH	     4096 /* files at a time */
#define WHOLE_EACH   64	  /* of them, one is as it was */
#define UNHURT_MAX   11 /* bytes: gzip's header, and what fills up the last of deflate */
#define REQUEST_ROOM (64 << 20)

static char folder[64];
static char **paths;

/* What became of file i, and what arrived. The server's thread writes `taken` and what
 * is wrong; it is read once nothing is on its way any more. */
static struct {
	unsigned int taken[BATCH], refused[BATCH];
	const struct str *plain; /* what is in each */
	long last;
	unsigned int wrong; /* out of turn, unknown, or not what was in it */
} seen;

static long number_in(const char *name)
{
	return strtol(name, NULL, 10);
}

static void on_line(enum log_kind kind, const char *line)
{
	const char *at = strstr(line, NAME_REST " was refused for good: ");
	long i = at ? number_in(at - DIGITS) : -1;

	if (i >= 0 && i < BATCH)
		seen.refused[i]++;
	else
		fprintf(stderr, "# %s\n", line);
}

/* A request of Pyroscope's kind: one profile, and behind it its id. */
static void take(const char *body, size_t n)
{
	static const char magic[] = { 0x1f, (char)0x8b };
	const char *rest = memmem(body, n, NAME_REST, strlen(NAME_REST));
	const char *zip = memmem(body, n, magic, sizeof(magic));
	long i = rest ? number_in(rest - DIGITS) : -1;
	AUTO_STR plain = { 0 };
	struct str packed;

	if (i < 0 || i >= BATCH || !zip || zip >= rest) {
		seen.wrong++;
		return;
	}
	/* two bytes before the id are its field and length */
	packed = (struct str){ .s = (char *)zip, .n = (size_t)(rest - DIGITS - 2 - zip) };
	if (!unpack(&packed, &plain) || plain.n != seen.plain->n ||
	    memcmp(plain.s, seen.plain->s, plain.n) != 0 || i <= seen.last)
		seen.wrong++;
	seen.last = i;
	seen.taken[i]++;
}

/* -1: there is no whole request. */
static ssize_t read_request(int sock, char *room, const char **ret_body)
{
	size_t n = 0, length;
	const char *end = NULL, *field;
	ssize_t more;

	while (!end && (more = read(sock, room + n, REQUEST_ROOM - 1 - n)) > 0) {
		n += (size_t)more;
		room[n] = '\0';
		end = strstr(room, "\r\n\r\n");
	}
	field = end ? strstr(room, "Content-Length: ") : NULL;
	if (!field)
		return -1;
	*ret_body = end + 4;
	length = strtoul(field + strlen("Content-Length: "), NULL, 10);
	while (room + n < *ret_body + length &&
	       (more = read(sock, room + n, REQUEST_ROOM - 1 - n)) > 0)
		n += (size_t)more;
	return room + n == *ret_body + length ? (ssize_t)length : -1;
}

static void *serve(void *arg)
{
	static const char yes[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
				  "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
	int listening = *(int *)arg, sock;
	char *room = malloc(REQUEST_ROOM);

	while (room && (sock = accept(listening, NULL, NULL)) >= 0) {
		const char *body;
		ssize_t n = read_request(sock, room, &body);

		if (n >= 0)
			take(body, (size_t)n);
		else
			seen.wrong++;
		if (write(sock, yes, sizeof(yes) - 1) < 0)
			seen.wrong++;
		close(sock);
	}
	free(room);
	return NULL;
}

struct server {
	int listening;
	pthread_t thread;
	char url[64];
};

static void listen_on_loopback(struct server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);

	server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(bind(server->listening, (struct sockaddr *)&address, n));
	assert_false(listen(server->listening, 8));
	assert_false(getsockname(server->listening, (struct sockaddr *)&address, &n));
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d%s",
		 ntohs(address.sin_port), receiver_named("pyroscope")->path);
}

static void end_server(struct server *server)
{
	shutdown(server->listening, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listening);
}

/* File i of all: each byte damaged, then cut at each length; and some are whole. */
static bool is_whole(size_t i)
{
	return i % WHOLE_EACH == 0;
}

static void write_file(const struct str *file, size_t i, size_t in_batch)
{
	size_t n = i < file->n ? file->n : i - file->n;
	char name[SPOOL_NAME_BYTES];
	AUTO_FREE char *bytes = malloc(file->n);
	int fd;

	memcpy(bytes, file->s, file->n);
	if (is_whole(i))
		n = file->n;
	else if (i < file->n)
		bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
	snprintf(name, sizeof(name), "spool/%012zu" NAME_REST, in_batch);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static struct exporter *begin(struct sender_keeper *keeper, uint64_t n)
{
	const struct spool_config config = { .path = "spool",
					     .ending = ".pb.gz",
					     .bytes_max = UINT64_MAX,
					     .age_max_ns = UINT64_MAX };
	struct exporter *exporter;
	struct sender *sender;
	struct spool *spool;

	assert_int_equal(spool_new(&spool, &config), 0);
	assert_int_equal(spool_counts(spool)->found, n);
	assert_int_equal(sender_new(&sender, keeper, 0), 0);
	assert_int_equal(exporter_new(&exporter, "server", spool, sender), 0);
	return exporter;
}

static void deliver(struct exporter *exporter)
{
	while (exporter_step(exporter, clock_now_ns())) {
		struct pollfd fd = { .fd = exporter_fd(exporter), .events = POLLIN };

		poll(&fd, 1, 1000);
	}
}

/* Files [from, from + n). */
static void check_batch(struct sender_keeper *keeper, const struct str *file, size_t from,
			size_t n)
{
	AUTO(exporter) exporter = NULL;
	struct exporter_counts counts;
	uint64_t delivered = 0, unhurt = 0;

	memset(seen.taken, 0, sizeof(seen.taken));
	memset(seen.refused, 0, sizeof(seen.refused));
	seen.last = -1;
	for (size_t i = 0; i < n; i++)
		write_file(file, from + i, i);
	exporter = begin(keeper, n);
	deliver(exporter);
	counts = exporter_counts(exporter);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(seen.taken[i] + seen.refused[i], 1);
		if (is_whole(from + i))
			assert_int_equal(seen.taken[i], 1);
		else if (from + i >= file->n)
			assert_int_equal(seen.refused[i], 1);
		else
			unhurt += seen.taken[i];
		delivered += seen.taken[i];
	}
	assert_true(unhurt <= UNHURT_MAX);
	assert_int_equal(counts.delivered, delivered);
	assert_int_equal(counts.refused, n - delivered);
	assert_int_equal(counts.tries, n); /* no sender died of one */
	assert_int_equal(spool_counts(exporter_spool(exporter))->items, 0);
	assert_int_equal(spool_counts(exporter_spool(exporter))->dropped, 0);
	assert_int_equal(seen.wrong, 0);
}

static void check_file(const struct str *file)
{
	const struct label labels[] = { { "service_name", "weft" } };
	struct sender_config config = { .name = "server",
					.receiver = receiver_named("pyroscope"),
					.target.timeout_ms = 60000,
					.labels = labels,
					.n_labels = 1 };
	struct sender_keeper *keeper;
	AUTO_STR plain = { 0 };
	struct server server;
	size_t n = 2 * file->n;

	assert_true(unpack(file, &plain));
	seen.plain = &plain;
	listen_on_loopback(&server);
	config.target.url = server.url;
	assert_int_equal(sender_keeper_new(&keeper, &config, 1), 0);
	assert_false(pthread_create(&server.thread, NULL, serve, &server.listening));
	for (size_t from = 0; from < n; from += BATCH)
		check_batch(keeper, file, from, n - from < BATCH ? n - from : BATCH);
	sender_keeper_free(keeper);
	end_server(&server);
}

static struct bytes make_file(void)
{
	struct profile *profile = NULL;
	struct bytes file;

	assert_int_equal(made_profile(&profile, "alpha"), 0);
	file = written(&pprof_writer, profile, VIEW_ASYNC);
	profile_free(profile);
	return file;
}

static int enter(void **state)
{
	strcpy(folder, "/tmp/weft-unit.XXXXXX");
	log_set_sink(on_line);
	return mkdtemp(folder) && !chdir(folder) && !mkdir("spool", 0700) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	log_set_sink(NULL);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

static void what_is_damaged_is_told_and_the_rest_arrives(void **state)
{
	size_t i = 0;

	do {
		struct bytes file = paths[i] ? slurp(paths[i]) : make_file();

		check_file(&(struct str){ .s = file.s, .n = file.n });
		free(file.s);
	} while (paths[i] && paths[++i]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_damaged_is_told_and_the_rest_arrives, enter, leave),
	};

	paths = argv + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
