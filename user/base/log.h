/* SPDX-License-Identifier: BSD-2-Clause */
/* Talk for a person, a line at a time. Where it goes, the program's face says: until
 * it does, nowhere. */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

/* What a line is. A hint says what can be done about the error before it. */
enum log_kind { LOG_ERROR, LOG_HINT, LOG_WARNING, LOG_INFO, LOG_DETAIL };

void log_set_level(enum log_level level);

/* line: without a newline, at most LOG_LINE_BYTES with its NUL. */
void log_set_sink(void (*sink)(enum log_kind kind, const char *line));

#define LOG_LINE_BYTES 8192

/* These are told at every level. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For what others can provoke as often as they want: LOG_PACED_MAX a second of those
 * that share one of these ({0} at first), and how many were left out. */
struct log_pace {
	uint64_t since_ns;
	unsigned long said, left_out;
};

#define LOG_PACED_MAX 10

void log_verbose_paced(struct log_pace *pace, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void log_pace_end(struct log_pace *pace); /* says what is still to be said */

#endif
