/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Talk with the person at a terminal. All else that wants to say something hands it
 * over: a line to the log's sink, a text to a function that its options name.
 */
#ifndef WEFT_CLI_TERMINAL_H
#define WEFT_CLI_TERMINAL_H

#include "base/log.h"

#include <stdbool.h>

/* Does stdout go to a person? */
bool terminal_is_stdout(void);

/* How wide it is; 0: not known, or stdout is no terminal. */
unsigned int terminal_columns(void);

/* And may it be coloured? Not where NO_COLOR is set, and only where TERM says what
 * the terminal is. */
bool terminal_wants_colours(void);

/* stderr, as the log's sink: for people; and for programs, a line with its time, level
 * and text as logfmt or JSON. */
void terminal_log(enum log_kind kind, const char *line);
void terminal_log_logfmt(enum log_kind kind, const char *line);
void terminal_log_json(enum log_kind kind, const char *line);

/* A text as it is, to stderr; or as lines of the log. */
void terminal_say(const char *text);
void terminal_say_logged(const char *text);

/* What puts a line in place of the one before, or nothing for NULL; itself NULL where
 * stderr is no terminal. */
typedef void terminal_line(const char *line);
terminal_line *terminal_progress(void);

#endif
