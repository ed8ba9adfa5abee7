// SPDX-License-Identifier: BSD-2-Clause
#include "record/program.h"

#include "base/cleanup.h"
#include "record/libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_USUAL "/bin:/usr/bin" /* execvp(3)'s, where PATH is not set */

/* A file that may be run: the fd, or -1. */
static int open_program(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || access(path, X_OK))
		return -1;
	return GIVE_FD(fd);
}

static int find_program(const char *name)
{
	const char *path = getenv("PATH");
	char at[PATH_MAX];
	int fd = -1;

	if (strchr(name, '/'))
		return open_program(name);
	for (path = path ? path : PATH_USUAL; fd < 0 && *path; path += *path == ':') {
		size_t n = strcspn(path, ":");
		int bytes = snprintf(at, sizeof(at), "%.*s%s%s", (int)n, path,
				     n ? "/" : "", name);

		if (bytes > 0 && (size_t)bytes < sizeof(at))
			fd = open_program(at);
		path += n;
	}
	return fd;
}

/* What a script's first line names, or -1. */
static int open_interpreter(int fd)
{
	char line[PATH_MAX];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *name;

	line[n > 0 ? n : 0] = '\0';
	if (n < 2 || memcmp(line, "#!", 2))
		return -1;
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return open_program(name);
}

/* All of it; false if it is no ELF file. */
static bool map(int fd)
{
	char magic[SELFMAG];
	struct stat st;

	if (fd < 0 || pread(fd, magic, SELFMAG, 0) != SELFMAG ||
	    memcmp(magic, ELFMAG, SELFMAG) || fstat(fd, &st))
		return false;
	return mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    0) != MAP_FAILED;
}

static void map_library(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	(void)map(fd);
}

void program_map(const char *name)
{
	AUTO_CLOSE int fd = find_program(name);
	AUTO_CLOSE int interpreter = fd >= 0 ? open_interpreter(fd) : -1;
	int of = interpreter >= 0 ? interpreter : fd;

	if (map(of))
		libraries_each(of, map_library);
}
