// SPDX-License-Identifier: BSD-2-Clause
#include "base/outfile.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

/* A device or a FIFO is written to, not replaced. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int write_beside(const char *path, const char *beside, const void *bytes, size_t n)
{
	struct stat st;
	AUTO_CLOSE int fd = -1;
	int err;

	/* what lies there is an accident's or somebody's trap: never write to it */
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return fail_errno(-errno, "cannot create %s", beside);
	if (!stat(path, &st) && fchmod(fd, st.st_mode & 0777))
		return fail_errno(-errno, "cannot keep the mode of %s", path);
	err = write_all(fd, bytes, n);
	if (err)
		return fail_errno(err, "cannot write %s", path);
	if (close(GIVE_FD(fd)))
		return fail_errno(-errno, "cannot write %s", path);
	if (rename(beside, path))
		return fail_errno(-errno, "cannot replace %s", path);
	return 0;
}

/*
 * Where a path leads, by the kernel's own walk: it refuses links that others
 * left in /tmp for us, which realpath(3) would follow. A path that leads nowhere
 * yet is its own target.
 */
static int find_target(const char *path, char *target, size_t room)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	char link[64];
	ssize_t n;

	if (fd < 0 && errno != ENOENT)
		return fail_errno(-errno, "cannot write %s", path);
	if (fd < 0) {
		if ((size_t)snprintf(target, room, "%s", path) >= room)
			return fail(-ENAMETOOLONG, "%s: the path is too long", path);
		return 0;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, room);
	if (n < 0)
		return fail_errno(-errno, "cannot tell where %s leads", path);
	if ((size_t)n >= room)
		return fail(-ENAMETOOLONG, "%s: the path is too long", path);
	target[n] = '\0';
	return 0;
}

int outfile_write(const char *path, const void *bytes, size_t n)
{
	char beside[PATH_MAX], target[PATH_MAX];
	int err;

	if (!strcmp(path, "-") || is_special(path)) {
		AUTO_CLOSE int fd =
			!strcmp(path, "-") ? dup(1) : open(path, O_WRONLY | O_CLOEXEC);

		err = fd < 0 ? -errno : write_all(fd, bytes, n);
		return err ? fail_errno(err, "cannot write to %s",
					path[0] == '-' ? "stdout" : path)
			   : 0;
	}
	/* a link keeps pointing: what it points to is replaced */
	err = find_target(path, target, sizeof(target));
	if (err)
		return err;
	if (snprintf(beside, sizeof(beside), "%s.%d.part", target, (int)getpid()) >=
	    (int)sizeof(beside))
		return fail(-ENAMETOOLONG, "%s: the path is too long", path);
	err = write_beside(target, beside, bytes, n);
	if (err)
		unlink(beside);
	return err;
}
