/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that sends profiles to one receiver, and has the network and nothing else:
 * user nobody, no capabilities, no descriptors of ours but what it is given, no files
 * but those that finding a server and its certificate takes. One profile at a time. One
 * that does not answer in time is left to its alarm, and another one takes its place.
 */
#ifndef WEFT_DELIVER_SENDER_H
#define WEFT_DELIVER_SENDER_H

#include "base/cleanup.h"
#include "deliver/http.h"
#include "deliver/pprof_part.h"
#include "deliver/receiver.h"

#include <stdbool.h>
#include <stdint.h>

#define SENDER_PROFILE_BYTES_MAX (64ULL << 20) /* of a file that it is given */

/* Borrowed, and copied into the process by the fork. */
struct sender_config {
	const char *name; /* for people */
	const struct receiver *receiver;
	struct http_target target; /* its URL with a path */
	const struct label *labels;
	size_t n_labels;
};

enum send_outcome {
	SEND_TAKEN,
	SEND_LATER,    /* it may be taken another time */
	SEND_IN_PARTS, /* this one is too large; its halves may be taken */
	SEND_NEVER,    /* the receiver does not want this one */
};

struct send_answer {
	enum send_outcome outcome;
	uint32_t retry_after_s; /* 0: it did not say */
	int32_t status;		/* of HTTP; 0: none */
	char text[256];		/* what is wrong, in words; clean */
};

/*
 * Forked before weft knows anything of others, it forks the senders, so that none of
 * them has in its memory what weft learned since. Ends with weft.
 */
struct sender_keeper;

int sender_keeper_new(struct sender_keeper **ret, const struct sender_config *configs,
		      size_t n);
void sender_keeper_free(struct sender_keeper *keeper);
/* A listener's process (listener.h), with a socket to it in *ret. */
int sender_keeper_fork_listener(struct sender_keeper *keeper, int *ret);
DEFINE_FREEP(sender_keeper)

struct sender;

/* For configs[i]; the keeper is borrowed. */
int sender_new(struct sender **ret, struct sender_keeper *keeper, size_t i);
void sender_free(struct sender *sender); /* its process ends, at the latest in time */
DEFINE_FREEP(sender)

struct send_order {
	int fd;		/* of a profile; borrowed */
	const char *id; /* at most 95 bytes */
	bool is_second;
	struct pprof_part part;
};

/* 0, or a negative errno when no process can be had; then it may be tried again. */
int sender_submit(struct sender *sender, const struct send_order *order);

enum { SENDER_NOTHING_YET = 1 };

/* Did what was submitted last end? Also when the process does not answer in time. */
int sender_collect(struct sender *sender, struct send_answer *ret);

/* Readable when there is an answer; -1: none is due. */
int sender_fd(const struct sender *sender);

#endif
