// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_environ.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "proc/open_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void environ_pick(struct str *out, const char *names, const char *bytes, size_t n)
{
	unsigned int seen = 0;

	for (size_t at = 0; at < n;) {
		const char *one = bytes + at, *equals;
		size_t length = strnlen(one, n - at);
		int place;

		at += length + 1;
		equals = memchr(one, '=', length);
		place = equals ? list_place(names, one, (size_t)(equals - one)) : -1;
		/* without its NUL it is the beginning of one that was cut */
		if (place < 0 || place >= ENVIRON_VARIABLES_MAX || at > n ||
		    seen & 1U << place)
			continue;
		seen |= 1U << place;
		if (length - (size_t)(equals - one) <= ENVIRON_VALUE_MAX)
			str_add_bytes(out, one, length + 1);
	}
}

static ssize_t read_all(int fd, char *bytes, size_t room)
{
	size_t n = 0;
	ssize_t got = 0;

	while (n < room && (got = read(fd, bytes + n, room - n)) > 0)
		n += (size_t)got;
	return n || !got ? (ssize_t)n : -errno;
}

int open_environ(pid_t pid, const char *names, int *ret_fd)
{
	AUTO_FREE char *bytes = malloc(ENVIRON_BYTES_MAX);
	AUTO_CLOSE int fd = -1;
	AUTO_STR picked = { 0 };
	char path[64];
	ssize_t n;

	if (!bytes)
		return fail(-ENOMEM, "no memory for an environment");
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -errno : read_all(fd, bytes, ENVIRON_BYTES_MAX);
	if (n == -ENOENT)
		return fail(-ESRCH, "pid %d is gone", pid);
	if (n < 0)
		return fail_errno((int)n, "cannot read %s", path);
	environ_pick(&picked, names, bytes, (size_t)n);
	if (str_error(&picked))
		return -ENOMEM;
	return open_copy_bytes(picked.s, picked.n, ret_fd);
}
