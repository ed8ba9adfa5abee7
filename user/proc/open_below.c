// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_below.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int open_place(int place)
{
	struct stat st;
	char path[64];
	int fd;

	if (fstat(place, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int open_below(const char *root, const char *path, uint64_t more)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | more,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	AUTO_CLOSE int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int place = -1;

	if (dir < 0)
		return -errno;
	place = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return place < 0 ? -errno : open_place(place);
}

/* linux/magic.h; what a file there holds the kernel makes up, and for whoever asks */
bool open_is_made_up(int fd)
{
	static const unsigned int magics[] = {
		0x9fa0,	    /* proc */
		0x62656572, /* sysfs */
		0x64626720, /* debugfs */
		0x74726163, /* tracefs */
		0x73636673, /* securityfs */
		0x6165676c, /* pstore */
		0x63677270, /* cgroup2 */
		0x27e0eb,   /* cgroup */
		0xcafe4a11, /* bpf */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if ((unsigned int)fs.f_type == magics[i])
			return true;
	return false;
}
