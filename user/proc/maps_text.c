// SPDX-License-Identifier: BSD-2-Clause
#include "proc/maps_text.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than a line has: a path of PATH_MAX, each byte of it written as four. */
#define ROOM_BYTES (32u << 10)

/* Of what is printed until a place is found. Some 10 ms. */
#define RANGE_BYTES (1u << 20)

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

static int too_much(void)
{
	return fail(-E2BIG, "a process maps too much");
}

static int read_printed(int fd, struct maps_most most, struct str *ret)
{
	AUTO_FREE char *bytes = malloc(ROOM_BYTES);
	size_t left = 0, all = 0;
	ssize_t n = 0;

	while (bytes && left < ROOM_BYTES &&
	       (n = read(fd, bytes + left, ROOM_BYTES - left)) > 0) {
		left = take_lines(bytes, left + (size_t)n, ret);
		all += (size_t)n;
		if (ret->n > most.code || all > most.printed)
			return too_much();
	}
	if (!bytes)
		return fail(-ENOMEM, "no memory for what a process maps");
	return n < 0 ? fail_errno(-errno, "cannot read what a process maps") : 0;
}

/* As the kernel prints it, but for the blanks before the name. */
static void add_line(struct str *ret, const struct map_found *map)
{
	const char *name = map->name;
	size_t n;

	str_addf(ret,
		 "%08" PRIx64 "-%08" PRIx64 " %c%cx%c %08" PRIx64 " %02x:%02x %" PRIu64
		 " ",
		 map->start, map->end, map->is_readable ? 'r' : '-',
		 map->is_writable ? 'w' : '-', map->is_shared ? 's' : 'p', map->pgoff,
		 map->maj, map->min, map->ino);
	for (; (n = strcspn(name, "\n")), name[n]; name += n + 1) {
		str_add_bytes(ret, name, n);
		str_add(ret, "\\012");
	}
	str_add(ret, name);
	str_add_char(ret, '\n');
}

/* -EOPNOTSUPP: it can't be asked. */
static int ask_for_code(int fd, struct maps_most most, struct str *ret)
{
	struct map_found map = { 0 };
	int err;

	while (!(err = map_query_code(fd, map.end, &map))) {
		add_line(ret, &map);
		if (ret->n > most.code)
			return too_much();
	}
	if (err == -ENOENT || err == -ESRCH) /* that was all; or its memory is gone */
		return 0;
	return err == -EOPNOTSUPP && !map.end
		       ? err
		       : fail_errno(err, "cannot ask what a process maps");
}

int maps_text_read(int fd, struct maps_most most, struct str *ret)
{
	int err = ask_for_code(fd, most, ret);

	if (err == -EOPNOTSUPP)
		err = read_printed(fd, most, ret);
	return str_error(ret) ? fail(-ENOMEM, "no memory for what a process maps") : err;
}

int maps_text_of(pid_t tid, struct maps_most most, struct str *ret)
{
	AUTO_CLOSE int fd = -1;
	int err = map_query_open(tid, &fd);

	return err ? err : maps_text_read(fd, most, ret);
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

bool maps_text_parse(const char *line, struct maps_line *ret)
{
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->start, &ret->end, ret->rights, &ret->pgoff, &ret->maj, &ret->min,
		   &ret->ino, &path) < 7)
		return false;
	ret->path = line + path;
	return ret->start < ret->end;
}

static bool read_range(const char *line, uint64_t addr, struct map_range *ret)
{
	struct maps_line map;

	if (!maps_text_parse(line, &map) || addr < map.start || addr >= map.end)
		return false;
	*ret = (struct map_range){ map.start, map.end };
	return true;
}

static int find_printed(int maps, uint64_t addr, struct map_range *ret)
{
	const struct maps_most most = { RANGE_BYTES, RANGE_BYTES };
	AUTO_STR text = { 0 };
	int err = read_printed(maps, most, &text);
	char *next = text.s, *line;

	while ((line = maps_text_line(&next)))
		if (read_range(line, addr, ret)) {
			error_clear(); /* there may be more, behind it */
			return 0;
		}
	return err ? err : fail(-ENOENT, "no code is mapped there");
}

int maps_text_range(int maps, uint64_t addr, struct map_range *ret)
{
	int err = map_query_range(maps, addr, ret);

	if (err == -EOPNOTSUPP)
		return find_printed(maps, addr, ret);
	return err ? fail(err, "no code is mapped there") : 0;
}
