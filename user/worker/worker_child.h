/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process behind the worker's socket: the parser reads files and answers, and may be
 * taken over by one of them. A supervisor starts and ends it.
 */
#ifndef WEFT_WORKER_WORKER_CHILD_H
#define WEFT_WORKER_WORKER_CHILD_H

/* Serves until the other end of the socket is closed. */
void parser_run(int sock) __attribute__((noreturn));

#endif
