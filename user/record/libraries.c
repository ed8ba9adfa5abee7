// SPDX-License-Identifier: BSD-2-Clause
#include "record/libraries.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_NS	   SECOND_NS /* a dynamic linker takes some 5 ms for twenty */
#define LIST_BYTES (256 << 10)

struct listing {
	pid_t pid;
	int fd; /* of a pipe from it */
	uint64_t until_ns;
};

static bool read_at(int fd, void *ret, size_t bytes, uint64_t offset)
{
	return pread(fd, ret, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Of whom it is known that --list lists and does not run. */
static bool knows_list(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/ld-linux", strlen("/ld-linux")) ||
			!strncmp(name, "/ld-musl-", strlen("/ld-musl-")));
}

/* Its dynamic linker's path, of PATH_MAX bytes; false if it has none that lists. */
static bool find_linker(int program, char *ret)
{
	Elf64_Ehdr header;
	Elf64_Phdr ph = { 0 };

	if (!read_at(program, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (unsigned int i = 0; ph.p_type != PT_INTERP; i++)
		if (i == header.e_phnum ||
		    !read_at(program, &ph, sizeof(ph), header.e_phoff + i * sizeof(ph)))
			return false;
	if (!ph.p_filesz || ph.p_filesz > PATH_MAX ||
	    !read_at(program, ret, ph.p_filesz, ph.p_offset))
		return false;
	ret[ph.p_filesz - 1] = '\0';
	return knows_list(ret);
}

/* With nothing to read, and nothing to say but to us. 0 or an errno. */
static int spawn(char **words, int out, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return err;
	err = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, out, 1);
	if (!err)
		err = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawn(ret, words[0], &files, NULL, words, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

static bool begin(struct listing *ret, int program)
{
	char linker[PATH_MAX], path[PATH_MAX], link[32], list[] = "--list";
	char *words[] = { linker, list, path, NULL };
	ssize_t n;
	int ends[2], err;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", program);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || !find_linker(program, linker) || pipe2(ends, O_CLOEXEC))
		return false;
	path[n] = '\0';
	*ret = (struct listing){ .fd = ends[0], .until_ns = clock_now_ns() + LIST_NS };
	err = spawn(words, ends[1], &ret->pid);
	close(ends[1]);
	if (err)
		close(ends[0]);
	return !err;
}

/* Did more come? It ends with the linker, or with its time. */
static bool read_more(const struct listing *listing, char *text, size_t *n)
{
	struct pollfd fd = { .fd = listing->fd, .events = POLLIN };
	uint64_t now = clock_now_ns();
	ssize_t got;

	if (now >= listing->until_ns ||
	    poll(&fd, 1, 1 + (int)((listing->until_ns - now) / 1000000)) != 1)
		return false;
	got = read(listing->fd, text + *n, LIST_BYTES - 1 - *n);
	*n += got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void end(struct listing *listing)
{
	close(listing->fd);
	kill(listing->pid, SIGKILL);
	waitpid(listing->pid, NULL, 0);
}

/* "<tab>libz.so.1 => /lib/libz.so.1 (0x7f…)", and the linker itself without "=>". */
static void take_line(char *line, void (*fn)(const char *path))
{
	char *path = strchr(line, '/');
	char *after = path ? strstr(path, " (0x") : NULL;
	char *target = path ? strstr(path, "=> /") : NULL;

	if (!after)
		return;
	*after = '\0';
	fn(target && target < after ? target + strlen("=> ") : path);
}

void libraries_each(int program, void (*fn)(const char *path))
{
	AUTO_FREE char *text = malloc(LIST_BYTES);
	struct listing listing;
	size_t n = 0;
	char *save, *line;

	if (!text || !begin(&listing, program))
		return;
	while (read_more(&listing, text, &n))
		;
	end(&listing);
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take_line(line, fn);
}
