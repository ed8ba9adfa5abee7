/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a listener's process (listener.h). */
#ifndef WEFT_DELIVER_LISTENER_CHILD_H
#define WEFT_DELIVER_LISTENER_CHILD_H

#include "deliver/listener.h"

#include <sys/types.h>

/* The first message to it, with the socket that listens. */
struct listener_setup {
	char token[LISTENER_TOKEN_BYTES]; /* "": none is asked for */
	uint32_t is_local_net; /* only this machine's programs reach it, by TCP */
};

/* A message of ours back, with a memory file of n bytes. */
struct listener_reply {
	uint32_t id, status;
	uint64_t n;
};

void listener_child_run(int sock, pid_t keeper) __attribute__((noreturn));

#endif
