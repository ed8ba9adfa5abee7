// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cache_dir.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROOTS_FOLDER "/var/cache/weft"
#define ENTRIES_MAX  65536 /* that are counted */
#define USED_PACE_S  3600  /* how exactly it is known when an entry was used */
#define PART_S	     3600  /* what was begun so long ago is nobody's any more */

struct seen {
	char name[CACHE_DIR_NAME_BYTES];
	uint64_t bytes;
	int64_t used_s;
};

static int put_path(char path[PATH_MAX], const char *dir, const char *rest)
{
	int n = snprintf(path, PATH_MAX, "%s%s", dir, rest);

	return n < PATH_MAX ? 0 : fail(-ENAMETOOLONG, "%s: the path is too long", dir);
}

/* Who runs as somebody else than who started it believes no environment. */
static bool is_lent(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

/* Where it is unless somebody says: for root /var/cache/weft, else weft in
 * $XDG_CACHE_HOME or ~/.cache. -ENOENT: nobody can tell. */
static int default_path(char path[PATH_MAX])
{
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int err;

	if (!geteuid())
		return put_path(path, ROOTS_FOLDER, "");
	if (is_lent())
		return fail(-ENOENT, "weft runs with another user's rights and does not "
				     "know that user's folder");
	if (caches && caches[0] == '/')
		return put_path(path, caches, "/weft");
	if (!home || home[0] != '/')
		return fail(-ENOENT, "neither XDG_CACHE_HOME nor HOME is a path");
	err = put_path(path, home, "/.cache");
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		return fail_errno(-errno, "cannot make %s", path);
	return err ? err : put_path(path, home, "/.cache/weft");
}

static int check_dir(const struct cache_dir *cache_dir)
{
	struct stat st;

	if (fstat(cache_dir->fd, &st))
		return fail_errno(-errno, "cannot stat %s", cache_dir->path);
	if (st.st_uid != geteuid())
		return fail(-EPERM, "%s belongs to another user", cache_dir->path);
	if (st.st_mode & 077) {
		fail(-EPERM, "%s is open to other users", cache_dir->path);
		return fail_hint(-EPERM, "chmod 700 %s", cache_dir->path);
	}
	return 0;
}

int cache_dir_open(struct cache_dir *cache_dir, const char *where, bool may_make)
{
	int err = 0;

	cache_dir->fd = -1;
	if (where && is_lent())
		return fail(-EPERM,
			    "weft runs with another user's rights, so it does not "
			    "write to a folder that its caller chose");
	err = where ? put_path(cache_dir->path, where, "")
		    : default_path(cache_dir->path);
	if (err)
		return err;
	if (may_make && mkdir(cache_dir->path, 0700) && errno != EEXIST)
		return fail_errno(-errno, "cannot make %s", cache_dir->path);
	cache_dir->fd =
		open(cache_dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cache_dir->fd < 0)
		return fail_errno(-errno, "cannot open %s", cache_dir->path);
	return check_dir(cache_dir);
}

void cache_dir_close(struct cache_dir *cache_dir)
{
	if (cache_dir->fd >= 0)
		close(GIVE_FD(cache_dir->fd));
}

void cache_dir_name(const struct hash *hash, char ret[CACHE_DIR_NAME_BYTES])
{
	for (size_t i = 0; i < sizeof(hash->bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", hash->bytes[i]);
}

int cache_dir_read(const struct cache_dir *cache_dir, const char *name, uint64_t most,
		   uint64_t *ret_bytes)
{
	AUTO_CLOSE int fd = openat(cache_dir->fd, name,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT; /* which is no news */
	if (fd < 0 || fstat(fd, &st))
		return fail_errno(-errno, "cannot open %s", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return fail(-EPERM,
			    "%s belongs to another user, or others may write to it",
			    name);
	if (st.st_size < 0 || (uint64_t)st.st_size > most)
		return fail(-E2BIG, "%s is too large", name);
	*ret_bytes = (uint64_t)st.st_size;
	if (time(NULL) - st.st_mtime > USED_PACE_S && futimens(fd, NULL))
		errno = 0; /* it will be thought older than it is */
	return GIVE_FD(fd);
}

/* Entry, entry.PID.part, or something of another's. */
static bool is_entry(const char *name, bool *ret_is_part)
{
	size_t n = strspn(name, "0123456789abcdef");
	size_t length = strlen(name);

	*ret_is_part = n < length && length > 5 && !strcmp(name + length - 5, ".part");
	return n == CACHE_DIR_NAME_BYTES - 1 && (n == length || *ret_is_part);
}

static int look_at(const struct cache_dir *cache_dir, const char *name, struct seen *ret)
{
	struct stat st;
	bool is_part;

	if (!is_entry(name, &is_part) ||
	    fstatat(cache_dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
		return -ENOENT;
	if (is_part) {
		if (time(NULL) - st.st_mtime > PART_S)
			unlinkat(cache_dir->fd, name, 0);
		return -ENOENT;
	}
	memcpy(ret->name, name, sizeof(ret->name));
	ret->bytes = (uint64_t)st.st_size;
	ret->used_s = st.st_mtime;
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->used_s != y->used_s)
		return x->used_s < y->used_s ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct seen_list {
	VEC(struct seen) items;
};

static int list(const struct cache_dir *cache_dir, struct seen_list *seen)
{
	int fd = openat(cache_dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		err = fail_errno(-errno, "cannot list %s", cache_dir->path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && seen->items.n < ENTRIES_MAX && (entry = readdir(dir))) {
		struct seen one;

		if (!look_at(cache_dir, entry->d_name, &one))
			err = vec_push(&seen->items, one);
	}
	closedir(dir);
	return err;
}

int cache_dir_trim(const struct cache_dir *cache_dir, uint64_t most,
		   struct cache_dir_sum *ret, unsigned long *ret_removed)
{
	struct seen_list seen = { 0 };
	int err = list(cache_dir, &seen);

	*ret = (struct cache_dir_sum){ 0 };
	*ret_removed = 0;
	for (size_t i = 0; i < seen.items.n; i++) {
		ret->bytes += seen.items.items[i].bytes;
		ret->entries++;
	}
	if (!err && ret->bytes > most)
		vec_sort(&seen.items, by_age);
	for (size_t i = 0; !err && i < seen.items.n && ret->bytes > most; i++) {
		const struct seen *one = &seen.items.items[i];

		if (unlinkat(cache_dir->fd, one->name, 0) && errno != ENOENT)
			err = fail_errno(-errno, "cannot remove %s", one->name);
		ret->bytes -= one->bytes;
		ret->entries--;
		*ret_removed += !err;
	}
	vec_free(&seen.items);
	return err;
}

int cache_dir_expire(const struct cache_dir *cache_dir, int64_t age_s)
{
	struct seen_list seen = { 0 };
	int64_t now_s = time(NULL);
	int err = list(cache_dir, &seen);

	for (size_t i = 0; !err && i < seen.items.n; i++) {
		const struct seen *one = &seen.items.items[i];

		if (now_s - one->used_s > age_s &&
		    unlinkat(cache_dir->fd, one->name, 0) && errno != ENOENT)
			err = fail_errno(-errno, "cannot remove %s", one->name);
	}
	vec_free(&seen.items);
	return err;
}
