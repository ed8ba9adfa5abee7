// SPDX-License-Identifier: BSD-2-Clause
#include "base/outfile.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct outfile {
	int fd;
	int folder;	/* that target and beside are paths in; borrowed */
	bool is_beside; /* to be moved to target at the end */
	char target[PATH_MAX], beside[PATH_MAX];
};

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

static int open_in_place(struct outfile *file, const char *path)
{
	file->fd = !strcmp(path, "-") ? dup(1) : open(path, O_WRONLY | O_CLOEXEC);
	snprintf(file->target, sizeof(file->target), "%s",
		 path[0] == '-' ? "stdout" : path);
	return file->fd < 0 ? fail_errno(-errno, "cannot write to %s", file->target) : 0;
}

static int make_beside(struct outfile *file, mode_t mode)
{
	if (snprintf(file->beside, sizeof(file->beside), "%s.%d.part", file->target,
		     (int)getpid()) >= (int)sizeof(file->beside))
		return fail(-ENAMETOOLONG, "%s: the path is too long", file->target);
	/* what lies there is an accident's or somebody's trap: never write to it */
	unlinkat(file->folder, file->beside, 0);
	file->fd = openat(file->folder, file->beside,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (file->fd < 0)
		return fail_errno(-errno, "cannot create %s", file->beside);
	file->is_beside = true;
	return 0;
}

/* A link keeps pointing: what it points to is replaced. */
static int open_beside(struct outfile *file, const char *path)
{
	struct stat st;
	int err = find_target(path, file->target, sizeof(file->target));

	if (!err)
		err = make_beside(file, 0666);
	if (err)
		return err;
	if (!stat(file->target, &st) && fchmod(file->fd, st.st_mode & 0777))
		return fail_errno(-errno, "cannot keep the mode of %s", path);
	return 0;
}

int outfile_new(struct outfile **ret, const char *path)
{
	AUTO(outfile) file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return fail(-ENOMEM, "no memory for an output");
	file->fd = -1;
	file->folder = AT_FDCWD;
	err = !strcmp(path, "-") || is_special(path) ? open_in_place(file, path)
						     : open_beside(file, path);
	if (err)
		return err;
	*ret = GIVE(file);
	return 0;
}

int outfile_new_in(struct outfile **ret, int folder, const char *name)
{
	AUTO(outfile) file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return fail(-ENOMEM, "no memory for an output");
	file->fd = -1;
	file->folder = folder;
	snprintf(file->target, sizeof(file->target), "%s", name);
	err = make_beside(file, 0600);
	if (err)
		return err;
	*ret = GIVE(file);
	return 0;
}

void outfile_free(struct outfile *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->is_beside)
		unlinkat(file->folder, file->beside, 0);
	free(file);
}

int outfile_add(struct outfile *file, const void *bytes, size_t n)
{
	int err = write_all(file->fd, bytes, n);

	return err ? fail_errno(err, "cannot write %s", file->target) : 0;
}

int outfile_finish(struct outfile *file)
{
	if (close(GIVE_FD(file->fd)))
		return fail_errno(-errno, "cannot write %s", file->target);
	if (file->is_beside &&
	    renameat(file->folder, file->beside, file->folder, file->target))
		return fail_errno(-errno, "cannot replace %s", file->target);
	file->is_beside = false;
	return 0;
}

int outfile_write(const char *path, const void *bytes, size_t n)
{
	AUTO(outfile) file = NULL;
	int err = outfile_new(&file, path);

	if (!err)
		err = outfile_add(file, bytes, n);
	return err ? err : outfile_finish(file);
}
