// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_copy.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define AT_ONCE_BYTES (256u << 10)
#define SEALS	      (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* linux/magic.h and the file systems' own sources: on a disk or in memory. */
static const unsigned int local_magics[] = {
	0xef53,	    /* ext2, ext3, ext4 */
	0x58465342, /* xfs */
	0x9123683e, /* btrfs */
	0x01021994, /* tmpfs */
	0x858458f6, /* ramfs */
	0x958458f6, /* hugetlbfs */
	0xf2f52010, /* f2fs */
	0x2fc12fc1, /* zfs */
	0xca451a4e, /* bcachefs */
	0x73717368, /* squashfs */
	0xe0f5e1e2, /* erofs */
	0x28cd3d45, /* cramfs */
	0x9660,	    /* iso9660 */
	0x15013346, /* udf */
	0x4d44,	    /* vfat */
	0x2011bab0, /* exfat */
	0x7366746e, /* ntfs3 */
};

static bool is_local(unsigned int magic)
{
	for (size_t i = 0; i < sizeof(local_magics) / sizeof(*local_magics); i++)
		if (magic == local_magics[i])
			return true;
	return false;
}

static bool same_file(int a, int b)
{
	struct stat one, other;

	return a >= 0 && b >= 0 && !fstat(a, &one) && !fstat(b, &other) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Are the mounts that pid sees made by who has privileges in our user namespace? */
static bool mounts_are_ours(pid_t pid)
{
	char path[64];
	AUTO_CLOSE int ours = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int mounts = -1;
	AUTO_CLOSE int theirs = -1;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	mounts = open(path, O_RDONLY | O_CLOEXEC);
	theirs = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	return same_file(ours, theirs);
}

static bool is_listed(const char *path, uint64_t mount_id)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	uint64_t id;

	while (f && getline(&line, &room, f) > 0)
		if (sscanf(line, "%" SCNu64, &id) == 1 && id == mount_id)
			return true;
	return false;
}

/*
 * An overlay does what the file systems below it do. One that an administrator mounted,
 * as containers have it, lies on disks; anybody can mount one above his own FUSE in a
 * user namespace, and hand files of it to processes elsewhere. So the mount itself must
 * be in a mount namespace that belongs to our user namespace.
 */
static bool is_administrators(int fd, pid_t pid)
{
	struct statx st;
	char path[64];

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) ||
	    !(st.stx_mask & STATX_MNT_ID))
		return false;
	if (is_listed("/proc/self/mountinfo", st.stx_mnt_id))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	return mounts_are_ours(pid) && is_listed(path, st.stx_mnt_id);
}

bool open_can_wait(int fd, pid_t pid)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	if ((unsigned int)fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return !is_administrators(fd, pid);
	return !is_local((unsigned int)fs.f_type);
}

static int copy_bytes(int from, int to, uint64_t until_ns)
{
	static char bytes[AT_ONCE_BYTES];
	size_t all = 0;
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0) {
		all += (size_t)n;
		if (all > OPEN_COPY_BYTES_MAX)
			return fail(-EFBIG, "more than %u MB can't be copied",
				    OPEN_COPY_BYTES_MAX >> 20);
		if (write(to, bytes, (size_t)n) != n)
			return fail(-ENOMEM, "no memory for a copy");
		if (clock_now_ns() > until_ns)
			return fail(-ETIMEDOUT, "its bytes come too slowly");
	}
	return n < 0 ? fail_errno(-errno, "cannot read it") : 0;
}

int open_copy_seal(int memfd)
{
	if (lseek(memfd, 0, SEEK_SET) || fcntl(memfd, F_ADD_SEALS, SEALS))
		return fail_errno(-errno, "cannot seal a copy");
	return 0;
}

int open_copy(int fd, uint64_t until_ns, int *ret_fd)
{
	AUTO_CLOSE int copy = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = copy < 0 ? fail_errno(-errno, "no memory for a copy")
			   : copy_bytes(fd, copy, until_ns);

	if (!err)
		err = open_copy_seal(copy);
	if (err)
		return err;
	*ret_fd = GIVE_FD(copy);
	return 0;
}

int open_copy_bytes(const void *bytes, size_t n, int *ret_fd)
{
	AUTO_CLOSE int copy = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = copy < 0 || (n && write(copy, bytes, n) != (ssize_t)n)
			  ? fail_errno(-errno, "no memory for a copy")
			  : open_copy_seal(copy);

	if (err)
		return err;
	*ret_fd = GIVE_FD(copy);
	return 0;
}

bool open_is_copy(int fd)
{
	return fcntl(fd, F_GET_SEALS) == SEALS;
}
