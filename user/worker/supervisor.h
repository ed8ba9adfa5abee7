/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts processes of ours that may be lost: to a file that takes them over, or to a
 * file system that never lets them go. They are forked from a supervisor, which reads
 * nothing foreign and was forked before anything privileged was open, so one that is
 * started later inherits as little as the first. One child at a time: who asks for
 * another has given up the one before.
 */
#ifndef WEFT_WORKER_SUPERVISOR_H
#define WEFT_WORKER_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

/* What a supervisor is for; static, and the same each time. */
struct supervised {
	const char *name; /* the supervisor's own, as ps shows it */
	const char *child_name;
	void (*run)(int sock); /* the child, with nothing open but this; never returns */
	int socket_bytes;      /* that may wait to be sent; 0: as the system has it */
	bool is_privileged;    /* it keeps our user and capabilities */
};

/* { -1, -1 } to begin with. */
struct supervisor {
	pid_t pid;
	int control;
};

/*
 * A new child, and an end to the one before: its socket and its pid, or a negative
 * errno. Starts the supervisor when there is none, or none any more; waits 5 s for
 * its answer. A child that cannot be killed now ends later; nobody waits for it.
 */
int supervisor_ask(struct supervisor *supervisor, const struct supervised *what,
		   pid_t *ret_child);

/* Ends it and its child. */
void supervisor_end(struct supervisor *supervisor);

#endif
