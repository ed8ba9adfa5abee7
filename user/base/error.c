// SPDX-License-Identifier: BSD-2-Clause
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct error_kept latest;

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	latest.hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(latest.sentence, sizeof(latest.sentence), fmt, ap);
	va_end(ap);
	return err;
}

int fail_errno(int err, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(latest.sentence, sizeof(latest.sentence), fmt, ap);
	va_end(ap);
	n = strlen(latest.sentence);
	snprintf(latest.sentence + n, sizeof(latest.sentence) - n, ": %s",
		 strerror(-err));
	snprintf(latest.hint, sizeof(latest.hint), "%s",
		 err == -EMFILE ? "allow weft more open files, as by: ulimit -n 1024"
				: "");
	return err;
}

int fail_hint(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(latest.hint, sizeof(latest.hint), fmt, ap);
	va_end(ap);
	return err;
}

const char *error_sentence(void)
{
	return latest.sentence;
}

const char *error_hint(void)
{
	return latest.hint;
}

void error_clear(void)
{
	latest.sentence[0] = '\0';
	latest.hint[0] = '\0';
}

void error_keep(struct error_kept *ret)
{
	*ret = latest;
}

void error_restore(const struct error_kept *kept)
{
	latest = *kept;
}
