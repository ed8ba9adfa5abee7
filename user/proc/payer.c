// SPDX-License-Identifier: BSD-2-Clause
#include "proc/payer.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 33 /* the kernel's own limit, user_namespace(7) */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static uid_t maker_of(int ns, const struct stat *st)
{
	uid_t maker;

	if (ioctl(ns, NS_GET_OWNER_UID, &maker) || !maker)
		return (uid_t)st->st_ino;
	return maker;
}

/* From its own namespace up to the one that lies in ours; false: it is not below ours. */
static bool find_maker(int inner, const struct stat *ours, uid_t *ret)
{
	AUTO_CLOSE int ns = fcntl(inner, F_DUPFD_CLOEXEC, 0);

	for (int i = 0; i < DEPTH_MAX; i++) {
		AUTO_CLOSE int parent = ioctl(ns, NS_GET_PARENT);
		struct stat above, here;

		if (parent < 0 || fstat(parent, &above) || fstat(ns, &here))
			return false;
		if (is_same(&above, ours)) {
			*ret = maker_of(ns, &here);
			return true;
		}
		close(ns);
		ns = GIVE_FD(parent);
	}
	return false;
}

uid_t payer_of(pid_t pid, uid_t uid)
{
	AUTO_CLOSE int ns = -1;
	struct stat ours, theirs;
	uid_t maker = uid;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	if (!uid || stat("/proc/self/ns/user", &ours) || stat(path, &theirs) ||
	    is_same(&ours, &theirs)) {
		errno = 0;
		return uid;
	}
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || !find_maker(ns, &ours, &maker))
		errno = 0;
	return maker;
}

/* n is -1: it cannot be read. */
static void read_ids(const char *path, struct payer_ids *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	ret->n = fd < 0 ? -1 : read(fd, ret->map, sizeof(ret->map));
}

void payer_ids_read(struct payer_ids *ret)
{
	read_ids("/proc/self/uid_map", ret);
}

/* Only who has all of our ids can lend all of them, so no other namespace has our map
 * but one of root's, whose users are ours. */
bool payer_is_user(const struct payer_ids *ours, pid_t pid)
{
	struct payer_ids theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	read_ids(path, &theirs);
	errno = 0;
	return theirs.n < 0 ||
	       (theirs.n == ours->n && !memcmp(ours->map, theirs.map, (size_t)theirs.n));
}
