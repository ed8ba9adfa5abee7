/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/maps says of code: a line a mapping, as the kernel writes it. Of the
 * rest, which is four lines in five, nobody here wants to know. */
#ifndef WEFT_PROC_MAPS_TEXT_H
#define WEFT_PROC_MAPS_TEXT_H

#include "base/str.h"

/* Adds the lines of executable mappings from what is left to read of such a file, and
 * stops behind `most` bytes of them. -E2BIG: there are more. */
int maps_text_read(int fd, size_t most, struct str *ret);

/* Takes the next line off, and ends it where its newline was. NULL: there is none. */
char *maps_text_line(char **text);

#endif
