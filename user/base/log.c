// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level log_level = LOG_NORMAL;

void log_set_level(enum log_level level)
{
	log_level = level;
}

static void say(const char *fmt, va_list ap)
{
	fputs("weft: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	if (log_level < LOG_NORMAL)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	va_list ap;

	if (log_level < LOG_VERBOSE)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}
