// SPDX-License-Identifier: BSD-2-Clause
#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>

void json_next(struct json *json)
{
	if (json->has_item)
		str_add_char(json->out, ',');
	json->has_item = true;
}

/* One of ours: plain letters. */
static void begin(struct json *json, const char *key)
{
	json_next(json);
	if (!key)
		return;
	str_add_char(json->out, '"');
	str_add(json->out, key);
	str_add(json->out, "\":");
}

void json_line(struct json *json)
{
	if (json->has_item)
		str_add_char(json->out, ',');
	json->has_item = false;
	str_add_char(json->out, '\n');
}

void json_key(struct json *json, const char *key)
{
	json_next(json);
	str_add_json(json->out, key);
	str_add_char(json->out, ':');
	json->has_item = false;
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin(json, key);
	str_add_char(json->out, bracket);
	json->has_item = false;
}

void json_close(struct json *json, char bracket)
{
	str_add_char(json->out, bracket);
	json->has_item = true;
}

void json_text(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	str_add_json(json->out, text);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);

	begin(json, key);
	do
		digits[--n] = (char)('0' + value % 10);
	while (value /= 10);
	str_add_bytes(json->out, digits + n, sizeof(digits) - n);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	str_add(json->out, value ? "true" : "false");
}

void json_addf(struct json *json, const char *key, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	begin(json, key);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	str_add(json->out, text);
}
