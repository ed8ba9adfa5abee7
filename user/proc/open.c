// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open.h"

#include "base/error.h"
#include "proc/maps_text.h"
#include "proc/open_below.h"
#include "proc/payer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* linux/magic.h; on these a file's st_dev is not the device that is mapped */
#define OVERLAYFS_MAGIC 0x794c7630
#define BTRFS_MAGIC	0x9123683e

static bool is_mapped_file(int fd, const struct module *module)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != module->ino)
		return false;
	if (major(st.st_dev) == module->maj && minor(st.st_dev) == module->min)
		return true;
	return !fstatfs(fd, &fs) &&
	       (fs.f_type == OVERLAYFS_MAGIC || fs.f_type == BTRFS_MAGIC);
}

static int open_range(pid_t pid, uint64_t start, uint64_t end)
{
	char path[96];
	int place;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
		 start, end);
	place = open(path, O_PATH | O_CLOEXEC);
	return place < 0 ? -errno : place;
}

/* A loader maps a library whole, and then its data over the end: what was told of ends
 * elsewhere by now. */
static int open_at(pid_t pid, uint64_t addr)
{
	AUTO_CLOSE int maps = -1;
	struct map_range now;
	int err = map_query_open(pid, &maps);

	if (!err)
		err = maps_text_range(maps, addr, &now);
	return err ? err : open_range(pid, now.start, now.end);
}

int open_map_place(pid_t pid, const struct mapping *map)
{
	int place = open_range(pid, map->start, map->end);
	struct error_kept kept;

	if (place != -ENOENT)
		return place;
	error_keep(&kept);
	place = open_at(pid, map->start);
	error_restore(&kept);
	return place;
}

static int open_map_file(pid_t pid, const struct mapping *map)
{
	AUTO_CLOSE int place = open_map_place(pid, map);

	return place < 0 ? place : open_place(place);
}

int open_mapped(pid_t pid, const struct mapping *map, const struct module *module,
		int *ret_fd)
{
	AUTO_CLOSE int fd = open_map_file(pid, map);
	char root[32];

	/* the process may have mapped something else there by now */
	if (fd >= 0 && is_mapped_file(fd, module)) {
		*ret_fd = GIVE_FD(fd);
		return 0;
	}
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	for (int i = 0; i < 2; i++) {
		if (fd >= 0)
			close(fd);
		fd = open_below(i ? "/" : root, module->path, 0);
		if (fd >= 0 && is_mapped_file(fd, module)) {
			*ret_fd = GIVE_FD(fd);
			return 0;
		}
	}
	return fail(-ENOENT, "%s of pid %d cannot be opened", module->path, pid);
}

struct owner open_user(pid_t pid)
{
	struct owner owner = { .inner_pid = pid, .has_memory = true };
	bool has_memory = false;
	AUTO_FCLOSE FILE *f = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			owner.inner_pid = (pid_t)atoi(last + 1);
		if (!strncmp(line, "Uid:", 4)) {
			owner.uid = (uid_t)strtoul(line + 4, NULL, 10);
			owner.known = true;
		}
		has_memory |= !strncmp(line, "VmSize:", 7) ||
			      (!strncmp(line, "Threads:", 8) && atoi(line + 8) > 1);
	}
	if (owner.known)
		owner.has_memory = has_memory;
	owner.payer = owner.uid;
	return owner;
}

struct owner open_owner(pid_t pid)
{
	struct owner owner = open_user(pid);

	if (owner.known)
		owner.payer = payer_of(pid, owner.uid);
	return owner;
}

/* One that has ended leads to its files no more. Ours are its, too, unless it lived
 * in a container, where numbers are others. */
static int find_perf_map(pid_t pid, const struct owner *owner, char *path, size_t room)
{
	char root[32];
	int fd;

	snprintf(path, room, "/tmp/perf-%d.map", owner->inner_pid);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	fd = open_below(root, path, O_NOFOLLOW);
	if (fd == -ENOENT && access(root, F_OK) && owner->inner_pid == pid)
		fd = open_below("/", path, O_NOFOLLOW);
	return fd;
}

/* Whoever can mount in a namespace of his own can have any file lie at that path: what
 * comes of it shows nobody more than he may read. */
static bool may_be_read(int fd, const struct stat *st, const struct owner *owner)
{
	if (open_is_made_up(fd))
		return false;
	if (owner->known && st->st_uid == owner->uid)
		return true;
	return !st->st_uid && st->st_mode & S_IROTH;
}

int open_perf_map(pid_t pid, const struct owner *kept, uint64_t max_bytes, int *ret_fd)
{
	struct owner now = open_owner(pid);
	const struct owner *owner = now.known ? &now : kept;
	char path[64];
	struct stat st;
	AUTO_CLOSE int fd = find_perf_map(pid, owner, path, sizeof(path));

	if (fd == -EINVAL)
		return fail(fd, "%s of pid %d is not a regular file: ignored", path, pid);
	if (fd < 0 || fstat(fd, &st))
		return fail_errno(fd < 0 ? fd : -errno, "no %s of pid %d", path, pid);
	if (!may_be_read(fd, &st, owner))
		return fail(-EPERM,
			    "%s belongs to uid %u, not to the user of pid %d: ignored",
			    path, st.st_uid, pid);
	if ((uint64_t)st.st_size > max_bytes)
		return fail(-EFBIG, "%s has %" PRIu64 " bytes: ignored", path,
			    (uint64_t)st.st_size);
	*ret_fd = GIVE_FD(fd);
	return 0;
}
