/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing string of bytes, always NUL terminated once something was added.
 * A failed allocation is remembered: adds become no-ops and str_error() tells,
 * so that a writer checks once, at its end.
 */
#ifndef WEFT_BASE_STR_H
#define WEFT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *s; /* NULL while empty and never added to */
	size_t n, room;
	bool failed;
};

void str_free(struct str *str);			 /* frees s, not str itself */
void str_clear(struct str *str);		 /* keeps the memory */
void str_clear_to(struct str *str, size_t most); /* unless that is more than so much */

/* Of room that much has taken at one time, what a queue keeps while nothing waits. */
#define STR_KEPT_BYTES (1u << 20)

void str_add(struct str *str, const char *s);
void str_add_bytes(struct str *str, const void *bytes, size_t n);
void str_add_char(struct str *str, char c);
void str_add_lower(struct str *str, const char *name); /* capitals of ASCII made small */
void str_addf(struct str *str, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int str_error(const struct str *str); /* 0 or -ENOMEM */

/* As a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
void str_add_json(struct str *str, const char *s);

#define AUTO_STR __attribute__((cleanup(str_free))) struct str

/*
 * Copies a name that came from outside into out (room >= 1), cut to fit, as
 * clean UTF-8: control bytes (C0, DEL, C1), newlines, what changes the direction of
 * text, and invalid sequences become '?'. Returns out.
 */
char *str_clean(char *out, size_t room, const char *name, size_t n);

/* Adds the same, of at most `most` bytes. For names see base/name.h. */
void str_add_clean(struct str *str, const char *name, size_t n, size_t most);

#endif
