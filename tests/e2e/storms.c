// SPDX-License-Identifier: BSD-2-Clause
/*
 * storms LIVES PROGRAM: four storms of so many lives one after the other, each of a
 * file of its own, a copy of PROGRAM, in this folder; with a break after each storm.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORMS	4
#define BREAK_S 3 /* longer than weft remembers who has ended */

extern char **environ;

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size) {
		perror(to);
		exit(1);
	}
	close(in);
	close(out);
}

static void live(const char *program, int number)
{
	char path[64], *argv[] = { path, NULL };
	pid_t pid;

	snprintf(path, sizeof(path), "./brief%d", number);
	copy(program, path);
	if (posix_spawn(&pid, path, NULL, NULL, argv, environ) ||
	    waitpid(pid, NULL, 0) != pid) {
		perror(path);
		exit(1);
	}
	unlink(path);
}

int main(int argc, char **argv)
{
	int lives = argc == 3 ? atoi(argv[1]) : 0;

	for (int storm = 0; storm < STORMS; storm++) {
		for (int i = 0; i < lives; i++)
			live(argv[2], storm * lives + i);
		sleep(BREAK_S);
	}
	return lives > 0 ? 0 : 2;
}
