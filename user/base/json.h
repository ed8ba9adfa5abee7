/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON, an item at a time, onto the end of a str: it puts the commas. Every function
 * takes a key, or NULL for an element of a list or what follows json_key().
 */
#ifndef WEFT_BASE_JSON_H
#define WEFT_BASE_JSON_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct str *out; /* borrowed; may be cleared between calls */
	bool has_item;	 /* before what comes next, on its own level */
};

/* bracket: one of [{ and, of _close(), its partner. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

void json_text(struct json *json, const char *key, const char *text);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* As printf(3) has it, in 63 bytes: null, and numbers that are none of the above. */
void json_addf(struct json *json, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A key that came from elsewhere. */
void json_key(struct json *json, const char *key);

/* The caller adds the item, or items with their commas, itself. */
void json_next(struct json *json);

/* What comes next begins a line. */
void json_line(struct json *json);

#endif
