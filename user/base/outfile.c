// SPDX-License-Identifier: BSD-2-Clause
#include "base/outfile.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct outfile {
	int fd;
	int folder;	/* that target and beside are paths in; borrowed */
	bool is_beside; /* to be moved to target at the end */
	pid_t owner;	/* a child of ours has it, too, and must not remove it */
	struct outfile *next;
	char target[PATH_MAX], beside[PATH_MAX];
	char left[PATH_MAX + 64]; /* to say; "": it is removed */
};

/* Those that are beside their places: a handler has no other way to know them. It
 * never runs while this changes. */
static struct outfile *unfinished;

static void hold_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, before);
}

static void let_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

static void forget(struct outfile *file)
{
	struct outfile **at = &unfinished;

	while (*at && *at != file)
		at = &(*at)->next;
	if (*at)
		*at = file->next;
	file->is_beside = false;
}

/* To who may not listen. */
static void say(const char *line)
{
	ssize_t n = write(2, line, strlen(line));

	(void)n;
}

void outfile_abandon(const char *last_words)
{
	for (struct outfile *file = unfinished; file; file = file->next) {
		if (file->owner != getpid())
			continue;
		if (file->left[0])
			say(file->left);
		else
			unlinkat(file->folder, file->beside, 0);
	}
	if (last_words)
		say(last_words);
}

void outfile_keep_when_cut(struct outfile *file)
{
	char name[PATH_MAX];

	if (!file->is_beside)
		return;
	str_clean(name, sizeof(name), file->beside, strlen(file->beside));
	snprintf(file->left, sizeof(file->left),
		 "weft: %s holds what was written so far\n", name);
}

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
		return fail_errno(-errno, "cannot find where %s leads", path);
	if ((size_t)n >= room)
		return fail(-ENAMETOOLONG, "%s: the path is too long", path);
	target[n] = '\0';
	return 0;
}

/* In a folder where everybody may put something, as /tmp. */
static bool is_in_common(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return stat(folder, &st) || (st.st_mode & S_ISVTX && st.st_mode & S_IWOTH);
}

/* A FIFO that another user put where we were to write would get all of it. The kernel
 * asks the same (fs.protected_fifos), but only of who would make the file. */
static int check_owner(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISFIFO(st.st_mode) || st.st_uid == geteuid() ||
	    !is_in_common(path))
		return 0;
	fail(-EACCES, "%s is a FIFO of user %u", path, (unsigned int)st.st_uid);
	return fail_hint(-EACCES, "remove it, or write to another place");
}

static int open_in_place(struct outfile *file, const char *path)
{
	int err = check_owner(path);

	if (err)
		return err;
	file->fd = !strcmp(path, "-") ? dup(1) : open(path, O_WRONLY | O_CLOEXEC);
	snprintf(file->target, sizeof(file->target), "%s",
		 path[0] == '-' ? "stdout" : path);
	return file->fd < 0 ? fail_errno(-errno, "cannot write to %s", file->target) : 0;
}

/* By us: who is older will move there what is under this name. */
static bool is_being_written(const struct outfile *file)
{
	for (const struct outfile *other = unfinished; other; other = other->next)
		if (other->folder == file->folder && other->owner == getpid() &&
		    !strcmp(other->beside, file->beside))
			return true;
	return false;
}

static int make_beside(struct outfile *file, mode_t mode)
{
	sigset_t before;
	int err;

	if (snprintf(file->beside, sizeof(file->beside), "%s.%d.part", file->target,
		     (int)getpid()) >= (int)sizeof(file->beside))
		return fail(-ENAMETOOLONG, "%s: the path is too long", file->target);
	if (is_being_written(file))
		return fail(-EBUSY, "%s is being written already", file->target);
	/* what lies there is an accident's or somebody's trap: never write to it */
	unlinkat(file->folder, file->beside, 0);
	hold_signals(&before);
	file->fd = openat(file->folder, file->beside,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	err = file->fd < 0 ? -errno : 0;
	if (!err) {
		file->is_beside = true;
		file->owner = getpid();
		file->next = unfinished;
		unfinished = file;
	}
	let_signals(&before);
	return err ? fail_errno(err, "cannot create %s", file->beside) : 0;
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

int outfile_new_memory(struct outfile **ret, int *ret_fd)
{
	AUTO(outfile) file = calloc(1, sizeof(*file));

	if (!file)
		return fail(-ENOMEM, "no memory for an output");
	file->fd = memfd_create("weft-output", MFD_CLOEXEC);
	if (file->fd < 0)
		return fail_errno(-errno, "cannot make an output of memory");
	snprintf(file->target, sizeof(file->target), "to memory");
	*ret_fd = file->fd;
	*ret = GIVE(file);
	return 0;
}

void outfile_free(struct outfile *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->is_beside) {
		sigset_t before;

		hold_signals(&before);
		unlinkat(file->folder, file->beside, 0);
		forget(file);
		let_signals(&before);
	}
	free(file);
}

int outfile_add(struct outfile *file, const void *bytes, size_t n)
{
	int err = write_all(file->fd, bytes, n);

	return err ? fail_errno(err, "cannot write %s", file->target) : 0;
}

int outfile_sync(struct outfile *file)
{
	return fdatasync(file->fd) ? fail_errno(-errno, "cannot write %s", file->target)
				   : 0;
}

static int move_into_place(struct outfile *file)
{
	sigset_t before;
	int err = 0;

	hold_signals(&before);
	if (renameat(file->folder, file->beside, file->folder, file->target))
		err = -errno;
	else
		forget(file);
	let_signals(&before);
	return err;
}

int outfile_finish(struct outfile *file)
{
	int err = 0;

	if (close(GIVE_FD(file->fd)))
		return fail_errno(-errno, "cannot write %s", file->target);
	if (file->is_beside)
		err = move_into_place(file);
	return err ? fail_errno(err, "cannot replace %s", file->target) : 0;
}

int outfile_write(const char *path, const void *bytes, size_t n)
{
	AUTO(outfile) file = NULL;
	int err = outfile_new(&file, path);

	if (!err)
		err = outfile_add(file, bytes, n);
	return err ? err : outfile_finish(file);
}
