/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration that is read again: weft starts itself anew in the same process. So
 * what an agent is told later is read and checked as what it was told first, and the
 * processes that have the network are forked before it knows anything of others.
 */
#ifndef WEFT_CLI_RELOAD_H
#define WEFT_CLI_RELOAD_H

#include <stdbool.h>

/* What our command line names, as it is now: would it do? What is wrong with it, a
 * process of its own has said on stderr. */
bool reload_is_right(void);

/* The same command line once more. Returns only if that can't be done: a negative errno
 * with the sentence kept. */
int reload_now(void);

#endif
