/* SPDX-License-Identifier: BSD-2-Clause */
/* How a path that somebody else named is opened: below a root, and as a place first. */
#ifndef WEFT_PROC_OPEN_BELOW_H
#define WEFT_PROC_OPEN_BELOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * For reading, what was opened as a mere place. Only so can it be looked at
 * first: to open a device is to use it, and with our privileges, not its
 * owner's. A descriptor of a regular file, or a negative errno.
 */
int open_place(int place);

/* The same. Never follows a magic link, never leaves the root. more: O_NOFOLLOW or 0. */
int open_below(const char *root, const char *path, uint64_t more);

/* Does the kernel make up what this file holds, and for whoever asks? */
bool open_is_made_up(int fd);

#endif
