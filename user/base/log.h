/* SPDX-License-Identifier: BSD-2-Clause */
/* Talk for a person, on stderr. stdout is data and never written here. */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

void log_set_level(enum log_level level);

/* "weft: …" and a newline; errors are told at every level. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
