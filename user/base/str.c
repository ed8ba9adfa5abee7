// SPDX-License-Identifier: BSD-2-Clause
#include "base/str.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void str_free(struct str *str)
{
	free(str->s);
	*str = (struct str){ 0 };
}

void str_clear(struct str *str)
{
	str->n = 0;
	if (str->s)
		str->s[0] = '\0';
}

void str_clear_to(struct str *str, size_t most)
{
	if (str->room > most)
		str_free(str);
	else
		str_clear(str);
}

static bool make_room(struct str *str, size_t more)
{
	size_t want = str->room ? str->room : 64;
	char *bigger;

	if (str->failed)
		return false;
	while (want < str->n + more + 1)
		want *= 2;
	if (want == str->room)
		return true;
	bigger = realloc(str->s, want);
	if (!bigger) {
		str->failed = true;
		return false;
	}
	str->s = bigger;
	str->room = want;
	return true;
}

void str_add_bytes(struct str *str, const void *bytes, size_t n)
{
	if (!make_room(str, n))
		return;
	if (n)
		memcpy(str->s + str->n, bytes, n);
	str->n += n;
	str->s[str->n] = '\0';
}

void str_add(struct str *str, const char *s)
{
	str_add_bytes(str, s, strlen(s));
}

void str_add_char(struct str *str, char c)
{
	str_add_bytes(str, &c, 1);
}

void str_add_lower(struct str *str, const char *name)
{
	for (; *name; name++)
		str_add_char(str,
			     *name >= 'A' && *name <= 'Z' ? (char)(*name | 32) : *name);
}

void str_addf(struct str *str, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !make_room(str, (size_t)n)) {
		str->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(str->s + str->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	str->n += (size_t)n;
}

int str_error(const struct str *str)
{
	return str->failed ? fail(-ENOMEM, "no memory for text") : 0;
}

/* Length of the valid UTF-8 sequence at s, 0 if there is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || len > n)
		return 0;
	code = s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

void str_add_json(struct str *str, const char *s)
{
	size_t n = strlen(s);

	str_add_char(str, '"');
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		size_t len = utf8_length((const unsigned char *)s + i, n - i);

		if (!len)
			str_add(str, "\\ufffd");
		else if (c == '"' || c == '\\')
			str_addf(str, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			str_addf(str, "\\u%04x", c);
		else
			str_add_bytes(str, s + i, len);
		i += len ? len : 1;
	}
	str_add_char(str, '"');
}

/* C0, DEL, C1. */
static bool is_control(const unsigned char *s, size_t len)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && len == 2 && s[1] < 0xa0);
}

/* What turns the direction of the text that follows, Unicode's Bidi_Control: with it a
 * name could make its neighbours read as something else. */
static bool turns_text(const unsigned char *s, size_t len)
{
	if (len == 2)
		return s[0] == 0xd8 && s[1] == 0x9c; /* U+061C */
	if (len != 3 || s[0] != 0xe2)
		return false;
	if (s[1] == 0x80) /* U+200E, U+200F; U+202A to U+202E */
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9; /* U+2066 to U+2069 */
}

/* Writes what a character, or a byte that is none, becomes; at most len bytes. */
static size_t put_clean(char *out, const unsigned char *s, size_t len)
{
	if (!len || is_control(s, len) || turns_text(s, len)) {
		out[0] = '?';
		return 1;
	}
	memcpy(out, s, len);
	return len;
}

/* Writes at most room bytes, and no more than n. */
static size_t clean(char *out, size_t room, const unsigned char *s, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n && s[i];) {
		size_t len = utf8_length(s + i, n - i);

		if (used + (len ? len : 1) > room)
			break;
		used += put_clean(out + used, s + i, len);
		i += len ? len : 1;
	}
	return used;
}

char *str_clean(char *out, size_t room, const char *name, size_t n)
{
	out[clean(out, room - 1, (const unsigned char *)name, n)] = '\0';
	return out;
}

void str_add_clean(struct str *str, const char *name, size_t n, size_t most)
{
	if (most > n)
		most = n;
	if (!make_room(str, most))
		return;
	str->n += clean(str->s + str->n, most, (const unsigned char *)name, n);
	str->s[str->n] = '\0';
}
