/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/maps says of code: a line a mapping, as the kernel writes it. Of the
 * rest, which is four lines in five, nobody here wants to know; nor does who can ask the
 * kernel for code alone (proc/map_query.h) have it printed. */
#ifndef WEFT_PROC_MAPS_TEXT_H
#define WEFT_PROC_MAPS_TEXT_H

#include "base/str.h"
#include "proc/map_query.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How much is read: bytes of lines of code, and of all lines that the kernel prints,
 * which cost the same. */
struct maps_most {
	size_t code, printed;
};

/* Adds the lines of executable mappings from what is left to read of such a file, or of
 * a copy of some, but for [vsyscall], which lies in no process. -E2BIG: there are more,
 * and some or all of those up to there were added. */
int maps_text_read(int fd, struct maps_most most, struct str *ret);

/* The same of a process's own, which may wait (proc/opener.h). */
int maps_text_of(pid_t tid, struct maps_most most, struct str *ret);

/* The executable mapping at addr. maps: an open /proc/PID/maps. -ENOENT: there is none,
 * or it lies behind the first 10,000 mappings, where the kernel prints them all. */
int maps_text_range(int maps, uint64_t addr, struct map_range *ret);

/* What a line says. */
struct maps_line {
	uint64_t start, end, pgoff, ino;
	unsigned int maj, min;
	char rights[5];	  /* "rwxp", each of them a dash where it is none */
	const char *path; /* in the line, up to its end; as the kernel writes it */
};

/* False: it is none, or of no bytes. */
bool maps_text_parse(const char *line, struct maps_line *ret);

/* Takes the next line off, and ends it where its newline was. NULL: there is none. */
char *maps_text_line(char **text);

#endif
