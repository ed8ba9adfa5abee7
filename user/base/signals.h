/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signals that end a recording: the first one stops it and what was sampled is
 * written, a second one ends us at once, if it is not the first one once more. A limit of
 * file size is told as a full disk is, and ends nobody. A command that we start finds all
 * as we found it.
 */
#ifndef WEFT_BASE_SIGNALS_H
#define WEFT_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define SIGNALS_TAKEN 4

struct signals {
	int fd; /* readable when there is one */
	sigset_t mask_before;
	struct sigaction before[SIGNALS_TAKEN], file_size_before;
};

/* From here on they wait to be read. */
int signals_take(struct signals *ret);
void signals_close(struct signals *signals);

enum { SIGNALS_STOP = 1, SIGNALS_HANGUP = 2 };

/* Reads what came: these, or-ed. */
unsigned int signals_read(const struct signals *signals);

/* The same for who is to stop at either. */
bool signals_say_stop(const struct signals *signals);

/* Does one that says stop wait to be read? What takes long then ends as it is. */
bool signals_pend(void);

/* From a second after this on one ends us, and outputs that are not whole with us; then
 * what_ends is said on stderr, a line that lives as long as we do. NULL: none has stopped
 * us, so the first one ends us, at once, and nothing is said. One that we were told to
 * ignore, and did not take, stays ignored. */
void signals_let_go(const char *what_ends);

/* In a child that is about to run another program. */
void signals_restore(const struct signals *signals);

#endif
