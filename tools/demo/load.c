/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: load PORT SECONDS [CONNECTIONS]
 *
 * Keeps some connections to 127.0.0.1:PORT busy, each asking for one thing
 * after the other, and prints how many answers came in a second. Exit status 1
 * when an answer was not what it should be.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define ANSWER_BYTES	65536
#define EVENTS_AT_ONCE	64

enum kind { USERS, REPORT, DIGEST, N_KINDS };

struct client {
	int fd;
	enum kind kind;
	size_t n, need; /* bytes of the answer: so far, and in all; 0 = not known */
	char answer[ANSWER_BYTES + 1];
};

struct load {
	int epoll_fd;
	uint32_t random;
	unsigned long long answers[N_KINDS];
	struct client clients[CONNECTIONS_MAX];
};

static uint32_t next_random(struct load *load)
{
	load->random ^= load->random << 13;
	load->random ^= load->random >> 17;
	load->random ^= load->random << 5;
	return load->random;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Six of ten ask for a user, the others for a report or a digest. */
static int ask(struct load *load, struct client *client)
{
	static const enum kind mix[10] = { USERS, USERS,  USERS,  USERS,  USERS,
					   USERS, REPORT, REPORT, DIGEST, DIGEST };
	static const char *const paths[] = { "users/", "report", "digest" };
	char number[16] = "", text[128];
	int n;

	client->kind = mix[next_random(load) % 10];
	client->n = client->need = 0;
	if (client->kind == USERS)
		snprintf(number, sizeof(number), "%u", next_random(load) % 20000 + 1);
	n = snprintf(text, sizeof(text), "GET /%s%s HTTP/1.1\r\nHost: demo\r\n\r\n",
		     paths[client->kind], number);
	return send(client->fd, text, (size_t)n, MSG_NOSIGNAL) == n ? 0 : -EPIPE;
}

/* Sets client->need once the head is there. */
static int parse_head(struct client *client)
{
	static const char length[] = "\r\nContent-Length: ";
	char *end, *at;
	unsigned long n_body;

	client->answer[client->n] = '\0';
	end = strstr(client->answer, "\r\n\r\n");
	if (!end)
		return 0;
	at = strstr(client->answer, length);
	if (strncmp(client->answer, "HTTP/1.1 200 ", 13) || !at || at > end)
		return -EBADMSG;
	n_body = strtoul(at + strlen(length), NULL, 10);
	if (!n_body || n_body > ANSWER_BYTES)
		return -EBADMSG;
	client->need = (size_t)(end - client->answer) + 4 + n_body;
	return client->need > ANSWER_BYTES ? -EBADMSG : 0;
}

static int take(struct load *load, struct client *client)
{
	ssize_t n =
		read(client->fd, client->answer + client->n, ANSWER_BYTES - client->n);
	int err;

	if (n <= 0)
		return n < 0 && errno == EINTR ? 0 : -ECONNRESET;
	client->n += (size_t)n;
	err = client->need ? 0 : parse_head(client);
	if (err || !client->need || client->n < client->need)
		return err;
	if (client->n > client->need)
		return -EBADMSG;
	load->answers[client->kind]++;
	return ask(load, client);
}

static int connect_one(struct load *load, struct client *client, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0 ||
	    connect(client->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    epoll_ctl(load->epoll_fd, EPOLL_CTL_ADD, client->fd, &event))
		return -errno;
	return ask(load, client);
}

static int run(struct load *load, double seconds)
{
	double end = now_s() + seconds, left;
	struct epoll_event events[EVENTS_AT_ONCE];

	while ((left = end - now_s()) > 0) {
		int n = epoll_wait(load->epoll_fd, events, EVENTS_AT_ONCE,
				   (int)(left * 1000) + 1);
		int err = n < 0 && errno != EINTR ? -errno : 0;

		for (int i = 0; i < n && !err; i++)
			err = take(load, events[i].data.ptr);
		if (err)
			return err;
	}
	return 0;
}

static void print_answers(const struct load *load, double seconds)
{
	unsigned long long all = 0;

	for (int i = 0; i < N_KINDS; i++)
		all += load->answers[i];
	printf("%.0f requests/s (%llu users, %llu reports, %llu digests)\n",
	       (double)all / seconds, load->answers[USERS], load->answers[REPORT],
	       load->answers[DIGEST]);
}

int main(int argc, char **argv)
{
	unsigned long port = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
	unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 16;
	struct load *load;
	int err = 0;

	if (!port || port > UINT16_MAX || !(seconds > 0 && seconds < 1e6) || !n ||
	    n > CONNECTIONS_MAX || argc > 4) {
		fprintf(stderr, "usage: load PORT SECONDS [CONNECTIONS, at most %d]\n",
			CONNECTIONS_MAX);
		return 2;
	}
	load = calloc(1, sizeof(*load));
	if (!load)
		return 1;
	load->random = 2463534242u;
	load->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned long i = 0; i < n && !err; i++)
		err = connect_one(load, &load->clients[i], (uint16_t)port);
	if (!err)
		err = run(load, seconds);
	print_answers(load, seconds);
	if (err)
		fprintf(stderr, "load: %s\n", strerror(-err));
	free(load);
	return err ? 1 : 0;
}
