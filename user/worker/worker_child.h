/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two processes behind the worker's socket. The parser reads files and
 * answers; it may be taken over by one of them. The supervisor starts parsers and
 * ends them, and reads nothing foreign: it was forked before anything
 * privileged was open, so that a parser that is started later inherits as
 * little as the first.
 */
#ifndef WEFT_WORKER_WORKER_CHILD_H
#define WEFT_WORKER_WORKER_CHILD_H

#include <sys/types.h>

/* Serves until its end of the control socket is closed. parent: who forked. */
void supervisor_run(int control, pid_t parent) __attribute__((noreturn));

/* Asks the supervisor for a new parser, ending the one before: its socket and its pid, or
 * a negative errno; -ETIMEDOUT after a second. */
int supervisor_ask(int control, pid_t *ret_parser);

#endif
