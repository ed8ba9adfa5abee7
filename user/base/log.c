// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level log_level = LOG_NORMAL;
static void (*log_sink)(enum log_kind kind, const char *line);

void log_set_level(enum log_level level)
{
	log_level = level;
}

void log_set_sink(void (*sink)(enum log_kind kind, const char *line))
{
	log_sink = sink;
}

static void say(enum log_kind kind, const char *fmt, va_list ap)
{
	char line[LOG_LINE_BYTES];

	if (!log_sink)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	log_sink(kind, line);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_ERROR, fmt, ap);
	va_end(ap);
}

void log_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_HINT, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_INFO, fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	if (log_level < LOG_NORMAL)
		return;
	va_start(ap, fmt);
	say(LOG_WARNING, fmt, ap);
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	va_list ap;

	if (log_level < LOG_VERBOSE)
		return;
	va_start(ap, fmt);
	say(LOG_DETAIL, fmt, ap);
	va_end(ap);
}

void log_pace_end(struct log_pace *pace)
{
	if (pace->left_out)
		log_verbose("(%lu more like these)", pace->left_out);
	*pace = (struct log_pace){ 0 };
}

void log_verbose_paced(struct log_pace *pace, const char *fmt, ...)
{
	uint64_t now = clock_now_ns();
	va_list ap;

	if (log_level < LOG_VERBOSE)
		return;
	if (now - pace->since_ns > 1000000000) {
		log_pace_end(pace);
		pace->since_ns = now;
	}
	if (pace->said >= LOG_PACED_MAX) {
		pace->left_out++;
		return;
	}
	pace->said++;
	va_start(ap, fmt);
	say(LOG_DETAIL, fmt, ap);
	va_end(ap);
}
