// SPDX-License-Identifier: BSD-2-Clause
#include "base/small_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

size_t small_file_read(const char *path, char *text, size_t room)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	errno = 0;
	n = read(fd, text, room - 1);
	if (n < 0)
		return 0;
	text[n] = '\0';
	return (size_t)n;
}
