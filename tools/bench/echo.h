/* SPDX-License-Identifier: BSD-2-Clause */
/* An echo server, built twice: with the header and with -DWEFT_DISABLED. */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#include <weft/async.h>

#include <sys/types.h>

#define CONNECTIONS 16
#define BYTES	    64

struct connection {
	struct weft_frame reads, writes;
	void (*write)(struct connection *);
	struct connection *next;
	int fd;
	ssize_t n;
	char bytes[BYTES];
};

/* Answers so many requests; the CPU time that it took. */
double serve_with(int epoll, long requests);
double serve_without(int epoll, long requests);

#endif
