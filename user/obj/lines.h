/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads lines of "HEX …" from a file by pread(2), so that a borrowed
 * descriptor's position stays. */
#ifndef WEFT_OBJ_LINES_H
#define WEFT_OBJ_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES_MAX (64u << 10) /* longer ones come cut */

struct lines {
	int fd;		 /* borrowed */
	uint64_t offset; /* in the file, of what is read next */
	uint64_t left;	 /* bytes that may still be read */
	char *buf;
	size_t at, n;
	bool skipping; /* what is left of a line */
};

#define AUTO_LINES __attribute__((cleanup(lines_close))) struct lines

/* From offset on, at most most_bytes. When it starts within a line, that one
 * is left out. */
int lines_open(struct lines *lines, int fd, uint64_t offset, uint64_t most_bytes);
void lines_close(struct lines *lines);

struct line {
	const char *text; /* without the newline, not NUL terminated */
	size_t n;
	uint64_t offset; /* in the file */
	bool is_cut;	 /* there is more of it */
};

/* 1 and a line, good until the next call; 0 at the end; a negative errno. A
 * last line without newline is still being written and is left out. */
int lines_next(struct lines *lines, struct line *ret);

/* Takes a hexadecimal number (0x is fine) and the blanks after it off the
 * front; false, and the line as it was, if there is none. */
bool line_take_hex(struct line *line, uint64_t *ret);

#endif
