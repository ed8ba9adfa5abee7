/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What others ask of an agent over HTTP: a process that has a listening socket and
 * nothing else, like a sender (sender.h), reads requests and hands on questions of a
 * few numbers. Answers come from the agent, which never sees a byte of a request. If the
 * process ends, another one takes its place.
 *
 * libmicrohttpd speaks HTTP there; it is loaded when the process starts.
 */
#ifndef WEFT_DELIVER_LISTENER_H
#define WEFT_DELIVER_LISTENER_H

#include "base/cleanup.h"
#include "core/view.h"
#include "deliver/sender.h"

#include <stdbool.h>
#include <stdint.h>

#define LISTENER_SECONDS_MAX 600
#define LISTENER_TOKEN_BYTES 256

enum question {
	QUESTION_HEALTH, /* is the agent alive? */
	QUESTION_READY,	 /* does it sample? */
	QUESTION_METRICS,
	QUESTION_STATUS,
	QUESTION_WINDOW,  /* the page of the next window */
	QUESTION_PROFILE, /* of the next seconds, as pprof */
	N_QUESTIONS
};

struct listener_question {
	uint32_t id, question; /* enum question */
	uint32_t seconds;      /* of a profile: 1 to LISTENER_SECONDS_MAX */
	uint32_t view;	       /* enum view */
};

struct listener_config {
	const char *address; /* "unix:PATH", "127.0.0.1:9464", "[::1]:9464" */
	const char *token;   /* NULL: nobody has to show one */
};

/* Would everybody on the network reach it? 1, 0, or a negative errno with the sentence
 * kept: it is no address. */
int listener_is_public(const char *address);

struct listener;

/* Listens at once. config and keeper are borrowed. A socket with a path is for its owner
 * alone; one that nobody listens at any more is replaced. */
int listener_new(struct listener **ret, struct sender_keeper *keeper,
		 const struct listener_config *config);
void listener_free(struct listener *listener);
DEFINE_FREEP(listener)

/* Where it listens, with the port that it was given where it asked for any. */
const char *listener_address(const struct listener *listener);

/* Its process, if it ended. */
void listener_step(struct listener *listener, uint64_t now_ns);
int listener_fd(const struct listener *listener); /* readable: a question; -1: none */

enum { LISTENER_NO_QUESTION = 1 };

int listener_ask(struct listener *listener, struct listener_question *ret);

/* status: of HTTP. What it gets is borrowed. Who asked may have gone: no error. */
void listener_answer_file(struct listener *listener, uint32_t id, unsigned int status,
			  int fd);
void listener_answer(struct listener *listener, uint32_t id, unsigned int status,
		     const void *bytes, size_t n);

uint64_t listener_restarts(const struct listener *listener);

#endif
