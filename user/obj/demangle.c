// SPDX-License-Identifier: BSD-2-Clause
#include "obj/demangle.h"

#include "base/str.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* Template arguments stay, parameters go. The recursion limit stays on. */
#define CPLUS_OPTIONS DMGL_ANSI
#define RUST_HASH     20 /* 17h, 16 hexadecimal digits, E */

/* libiberty prints in pieces and cannot be told to stop; a short name made of
 * back references prints gigabytes. So what does not fit is jumped out of. */
struct bounded {
	char text[NAME_BYTES_MOST];
	size_t n;
	jmp_buf full;
};

static void take(const char *piece, size_t n, void *arg)
{
	struct bounded *out = arg;
	size_t room = sizeof(out->text) - out->n;

	if (n) /* an empty piece may be NULL */
		memcpy(out->text + out->n, piece, n < room ? n : room);
	out->n += n < room ? n : room;
	if (n > room)
		longjmp(out->full, 1);
}

static bool print(struct bounded *out, const char *mangled)
{
	out->n = 0;
	if (setjmp(out->full))
		return true;
	if (rust_demangle_callback(mangled, 0, take, out))
		return true;
	out->n = 0;
	if (mangled[1] == 'R')
		return false;
	return cplus_demangle_v3_callback(mangled, CPLUS_OPTIONS, take, out);
}

/* Of a legacy Rust name, which may hold dots: up to behind the hash. */
static size_t rust_length(const char *name, size_t n)
{
	for (size_t end = RUST_HASH; end <= n; end++) {
		const char *hash = name + end - RUST_HASH;
		size_t digits = 3;

		if (name[end - 1] != 'E' || memcmp(hash, "17h", 3))
			continue;
		while (digits < RUST_HASH - 1 && isxdigit((unsigned char)hash[digits]))
			digits++;
		if (digits == RUST_HASH - 1 && (end == n || name[end] == '.'))
			return end;
	}
	return 0;
}

static size_t mangled_length(const char *name, size_t n)
{
	size_t length = rust_length(name, n);
	const char *dot = memchr(name, '.', n);

	if (length)
		return length;
	return dot ? (size_t)(dot - name) : n;
}

/* gcc names the body of a coroutine by the type of its frame, which is no news:
 * task.Frame.actor. */
static size_t frame_length(const char *name, size_t n)
{
	static const char frame[] = ".Frame";
	size_t len = sizeof(frame) - 1;

	return n > len && !memcmp(name, frame, len) && name[len] == '.' ? len : 0;
}

/* Without @VERSION, which no mangling uses but Rust's legacy one could. */
static size_t without_version(const char *name, size_t n)
{
	const char *at = n ? memchr(name + 1, '@', n - 1) : NULL;

	return at && !rust_length(name, n) ? (size_t)(at - name) : n;
}

/* Without the .llvm.1234 that keeps ThinLTO's promoted locals apart. */
static size_t without_llvm(const char *name, size_t n)
{
	size_t end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end < n && end > 6 && !memcmp(name + end - 6, ".llvm.", 6))
		return end - 6;
	return n;
}

static bool is_mangled(const char *name, size_t n)
{
	return n > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

size_t demangle(char *out, size_t room, const char *symbol, size_t n)
{
	char mangled[MANGLED_BYTES_MOST + 1];
	struct bounded text;
	size_t length, length_shown;

	n = strnlen(symbol, n);
	n = without_version(symbol, n);
	n = without_llvm(symbol, n);
	if (n > MANGLED_BYTES_MOST || !is_mangled(symbol, n))
		return strlen(str_clean(out, room, symbol, n));
	length = mangled_length(symbol, n);
	memcpy(mangled, symbol, length);
	mangled[length] = '\0';
	if (!print(&text, mangled) || !text.n)
		return strlen(str_clean(out, room, symbol, n));
	str_clean(out, room, text.text, text.n);
	length_shown = strlen(out);
	length += frame_length(symbol + length, n - length);
	str_clean(out + length_shown, room - length_shown, symbol + length, n - length);
	return strlen(out);
}
