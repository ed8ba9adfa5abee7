// SPDX-License-Identifier: BSD-2-Clause
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is_stdout(void)
{
	return isatty(STDOUT_FILENO);
}

unsigned int terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

bool terminal_wants_colours(void)
{
	const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");

	return terminal_is_stdout() && !(refused && *refused) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

void terminal_log(const char *line)
{
	fprintf(stderr, "weft: %s\n", line);
}

void terminal_say(const char *text)
{
	fputs(text, stderr);
}

static void progress(const char *line)
{
	if (line)
		fprintf(stderr, "\r%s", line);
	else
		fputs("\r\033[K", stderr);
}

terminal_line *terminal_progress(void)
{
	return isatty(STDERR_FILENO) ? progress : NULL;
}
