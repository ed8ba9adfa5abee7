// SPDX-License-Identifier: BSD-2-Clause
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct error_kept now;

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	now.hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(now.sentence, sizeof(now.sentence), fmt, ap);
	va_end(ap);
	return err;
}

int fail_errno(int err, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(now.sentence, sizeof(now.sentence), fmt, ap);
	va_end(ap);
	n = strlen(now.sentence);
	snprintf(now.sentence + n, sizeof(now.sentence) - n, ": %s", strerror(-err));
	snprintf(now.hint, sizeof(now.hint), "%s",
		 err == -EMFILE ? "allow weft more open files, as by: ulimit -n 1024"
				: "");
	return err;
}

int fail_hint(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(now.hint, sizeof(now.hint), fmt, ap);
	va_end(ap);
	return err;
}

const char *error_sentence(void)
{
	return now.sentence;
}

const char *error_hint(void)
{
	return now.hint;
}

void error_clear(void)
{
	now.sentence[0] = '\0';
	now.hint[0] = '\0';
}

void error_keep(struct error_kept *ret)
{
	*ret = now;
}

void error_restore(const struct error_kept *kept)
{
	now = *kept;
}
