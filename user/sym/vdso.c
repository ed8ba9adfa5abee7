// SPDX-License-Identifier: BSD-2-Clause
/* The image is our own memory; its end is not told, so /proc says it. */
#include "sym/vdso.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static size_t image_bytes(unsigned long start)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start)
			return to - from;
	return 0;
}

int vdso_open(void)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	size_t bytes = start ? image_bytes(start) : 0;
	AUTO_CLOSE int fd = -1;

	if (!bytes)
		return fail(-ENOENT, "this process has no vDSO");
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0 || write(fd, (const void *)start, bytes) != (ssize_t)bytes)
		return fail_errno(-errno, "cannot copy the vDSO");
	return GIVE_FD(fd);
}
