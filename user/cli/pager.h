/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pager for text that goes to a terminal: what WEFT_PAGER says, or PAGER, or less,
 * which ends at once if all of it fits (-F). None if they are empty or say "cat", or if
 * the terminal is dumb.
 */
#ifndef WEFT_CLI_PAGER_H
#define WEFT_CLI_PAGER_H

#include <sys/types.h>

struct pager {	   /* {0} */
	pid_t pid; /* 0: there is none */
};

/* arg: a struct pager. From now on stdout goes there; if none can be had, where it went
 * before. */
void pager_begin(void *arg);

/* All is written: waits until who reads has seen it. */
void pager_end(struct pager *pager);

#endif
