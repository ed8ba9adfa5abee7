// SPDX-License-Identifier: BSD-2-Clause
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char sentence[1024];
static char hint[512];

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return err;
}

int fail_errno(int err, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	n = strlen(sentence);
	snprintf(sentence + n, sizeof(sentence) - n, ": %s", strerror(-err));
	snprintf(hint, sizeof(hint), "%s",
		 err == -EMFILE ? "allow weft more open files, as by: ulimit -n 1024"
				: "");
	return err;
}

int fail_hint(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(hint, sizeof(hint), fmt, ap);
	va_end(ap);
	return err;
}

const char *error_sentence(void)
{
	return sentence;
}

const char *error_hint(void)
{
	return hint;
}

void error_clear(void)
{
	sentence[0] = '\0';
	hint[0] = '\0';
}
