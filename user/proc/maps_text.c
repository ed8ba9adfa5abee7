// SPDX-License-Identifier: BSD-2-Clause
#include "proc/maps_text.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than a line has: a path of PATH_MAX, each byte of it written as four. */
#define ROOM_BYTES (32u << 10)

/* "start-end perms …" */
static bool is_code(const char *line, const char *end)
{
	const char *perms = memchr(line, ' ', (size_t)(end - line));

	return perms && end - perms > 3 && perms[3] == 'x';
}

/* Of what came so far; how many of its bytes are left, which is less than a line. */
static size_t take_lines(char *bytes, size_t n, struct str *ret)
{
	char *line = bytes, *end;

	while ((end = memchr(line, '\n', n - (size_t)(line - bytes)))) {
		if (is_code(line, end))
			str_add_bytes(ret, line, (size_t)(end + 1 - line));
		line = end + 1;
	}
	n -= (size_t)(line - bytes);
	memmove(bytes, line, n);
	return n;
}

int maps_text_read(int fd, size_t most, struct str *ret)
{
	AUTO_FREE char *bytes = malloc(ROOM_BYTES);
	size_t left = 0;
	ssize_t n = 0;

	while (bytes && left < ROOM_BYTES &&
	       (n = read(fd, bytes + left, ROOM_BYTES - left)) > 0) {
		left = take_lines(bytes, left + (size_t)n, ret);
		if (ret->n > most)
			return fail(-E2BIG, "a process maps too much");
	}
	if (!bytes || str_error(ret))
		return fail(-ENOMEM, "no memory for what a process maps");
	return n < 0 ? fail_errno(-errno, "cannot read what a process maps") : 0;
}

char *maps_text_line(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}
