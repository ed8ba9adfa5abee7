// SPDX-License-Identifier: BSD-2-Clause
#include "cli/terminal.h"

#include "base/clock.h" /* and time.h */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is_stdout(void)
{
	return isatty(STDOUT_FILENO);
}

static unsigned int columns_of(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

unsigned int terminal_columns(void)
{
	return columns_of(STDOUT_FILENO);
}

bool terminal_wants_colours(void)
{
	const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");

	return terminal_is_stdout() && !(refused && *refused) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

void terminal_log(enum log_kind kind, const char *line)
{
	fprintf(stderr, kind == LOG_HINT ? "      %s\n" : "weft: %s\n", line);
}

/* What tools that read logs know. */
static const char *level_of(enum log_kind kind)
{
	static const char *const levels[] = {
		[LOG_ERROR] = "error", [LOG_HINT] = "error",   [LOG_WARNING] = "warn",
		[LOG_INFO] = "info",   [LOG_DETAIL] = "debug",
	};

	return levels[kind];
}

/* RFC 3339, in UTC and milliseconds. */
static const char *time_text(char *out, size_t room)
{
	struct timespec now;
	struct tm utc;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	n = strftime(out, room, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out + n, room - n, ".%03ldZ", now.tv_nsec / 1000000);
	return out;
}

void terminal_log_json(enum log_kind kind, const char *line)
{
	AUTO_STR out = { 0 };
	struct json json = { .out = &out };
	char time[64];

	json_open(&json, NULL, '{');
	json_text(&json, "time", time_text(time, sizeof(time)));
	json_text(&json, "level", level_of(kind));
	json_text(&json, "msg", line);
	json_close(&json, '}');
	if (!str_error(&out))
		fprintf(stderr, "%s\n", out.s);
}

/* A JSON string is a value of logfmt, too. */
void terminal_log_logfmt(enum log_kind kind, const char *line)
{
	AUTO_STR out = { 0 };
	struct json json = { .out = &out };
	char time[64];

	json_text(&json, NULL, line);
	if (!str_error(&out))
		fprintf(stderr, "time=%s level=%s msg=%s\n",
			time_text(time, sizeof(time)), level_of(kind), out.s);
}

void terminal_say(const char *text)
{
	fputs(text, stderr);
}

void terminal_say_logged(const char *text)
{
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		log_info("%.*s", (int)n, text);
	}
}

/* A line that wraps could not be written over. */
static void progress(const char *line)
{
	unsigned int columns = columns_of(STDERR_FILENO);

	if (line)
		fprintf(stderr, "\r%.*s", columns > 1 ? (int)columns - 1 : -1, line);
	else
		fputs("\r\033[K", stderr);
}

terminal_line *terminal_progress(void)
{
	return isatty(STDERR_FILENO) ? progress : NULL;
}
