// SPDX-License-Identifier: BSD-2-Clause
#include "cli/reload.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define US    "/proc/self/exe" /* also when another version lies at its path now */
#define CHECK "--check-config"

extern char **environ;

struct command_line {
	struct str text; /* each word with its NUL */
	VEC(char *) words;
};

static void command_line_end(struct command_line *line)
{
	str_free(&line->text);
	vec_free(&line->words);
}

static int read_text(struct str *text)
{
	AUTO_CLOSE int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		str_add_bytes(text, buf, (size_t)n);
	if (n < 0)
		return fail_errno(-errno, "cannot read our command line");
	return str_error(text);
}

/* With `more` at its end, unless it is NULL; NULL ends the words. */
static int command_line_get(struct command_line *line, char *more)
{
	int err = read_text(&line->text);

	for (size_t at = 0; !err && at < line->text.n;
	     at += strlen(line->text.s + at) + 1)
		err = vec_push(&line->words, line->text.s + at);
	if (!err && more)
		err = vec_push(&line->words, more);
	return err ? err : vec_push(&line->words, NULL);
}

/* 0, its pid then in *ret. Its stdout goes nowhere, its stderr where ours goes. */
static int start(char **words, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return -err;
	err = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
					       O_WRONLY, 0);
	if (!err)
		err = posix_spawn(ret, US, &files, NULL, words, environ);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

bool reload_is_right(void)
{
	struct command_line line = { 0 };
	char check[] = CHECK;
	int status = -1, err = command_line_get(&line, check);
	pid_t pid = -1;

	if (!err)
		err = start(line.words.items, &pid);
	while (!err && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	command_line_end(&line);
	error_clear();
	return !err && !status;
}

int reload_now(void)
{
	struct command_line line = { 0 };
	int err = command_line_get(&line, NULL);

	if (!err) {
		execv(US, line.words.items);
		err = fail_errno(-errno, "cannot start again");
	}
	command_line_end(&line);
	return err;
}
