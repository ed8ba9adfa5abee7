// SPDX-License-Identifier: BSD-2-Clause
#include "obj/lines.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_BUFFER_BYTES (2 * LINE_BYTES_MAX)

int lines_open(struct lines *lines, int fd, uint64_t offset, uint64_t most_bytes)
{
	*lines = (struct lines){
		.fd = fd,
		.offset = offset,
		.left = most_bytes,
		.skipping = offset != 0,
	};
	lines->buf = malloc(LINES_BUFFER_BYTES);
	return lines->buf ? 0 : fail(-ENOMEM, "no memory for lines");
}

void lines_close(struct lines *lines)
{
	free(lines->buf);
	lines->buf = NULL;
}

/* Reads more behind what is left over. 1, 0 at the end, or a negative errno. */
static int refill(struct lines *lines)
{
	size_t room;
	ssize_t got;

	memmove(lines->buf, lines->buf + lines->at, lines->n - lines->at);
	lines->n -= lines->at;
	lines->at = 0;
	room = LINES_BUFFER_BYTES - lines->n;
	if (room > lines->left)
		room = lines->left;
	do {
		got = pread(lines->fd, lines->buf + lines->n, room, (off_t)lines->offset);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail_errno(-errno, "cannot read lines");
	lines->n += (size_t)got;
	lines->offset += (uint64_t)got;
	lines->left -= (uint64_t)got;
	return got > 0;
}

/* The buffer's next line, if it is whole or longer than may be. */
static bool take_line(struct lines *lines, struct line *ret)
{
	const char *text = lines->buf + lines->at;
	size_t n = lines->n - lines->at;
	const char *end = memchr(text, '\n', n);
	size_t length = end ? (size_t)(end - text) : n;

	if (!end && n <= LINE_BYTES_MAX)
		return false;
	*ret = (struct line){
		.text = text,
		.n = length < LINE_BYTES_MAX ? length : LINE_BYTES_MAX,
		.offset = lines->offset - n,
		.is_cut = length > LINE_BYTES_MAX,
	};
	lines->at += length + !!end;
	return true;
}

int lines_next(struct lines *lines, struct line *ret)
{
	for (;;) {
		int more;

		while (take_line(lines, ret)) {
			bool skip = lines->skipping;
			bool is_whole = lines->buf[lines->at - 1] == '\n';

			lines->skipping = !is_whole;
			if (!skip)
				return 1;
		}
		more = refill(lines);
		if (more <= 0)
			return more;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool line_take_hex(struct line *line, uint64_t *ret)
{
	size_t at = line->n > 1 && line->text[0] == '0' && line->text[1] == 'x' ? 2 : 0;
	size_t first = at;
	uint64_t value = 0;

	for (; at < line->n && hex_digit(line->text[at]) >= 0; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)hex_digit(line->text[at]);
	}
	if (at == first || at == line->n || line->text[at] != ' ')
		return false;
	while (at < line->n && line->text[at] == ' ')
		at++;
	line->text += at;
	line->n -= at;
	line->offset += at;
	*ret = value;
	return true;
}
