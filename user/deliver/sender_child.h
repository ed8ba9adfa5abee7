/* SPDX-License-Identifier: BSD-2-Clause */
/* The insides of the senders' processes and of their keeper's (sender.h). */
#ifndef WEFT_DELIVER_SENDER_CHILD_H
#define WEFT_DELIVER_SENDER_CHILD_H

#include "deliver/sender.h"

#include <sys/types.h>

/* With it comes the descriptor of a profile; a struct send_answer is the answer. */
struct sender_job {
	char id[96];
	uint32_t is_second;
	struct pprof_part part;
};

/* A message is which config, with the socket of a sender that is to be forked. */
void sender_keeper_run(int control, pid_t parent, const struct sender_config *configs,
		       size_t n) __attribute__((noreturn));

#endif
