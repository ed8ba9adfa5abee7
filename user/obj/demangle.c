// SPDX-License-Identifier: BSD-2-Clause
#include "obj/demangle.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Template arguments stay, parameters go. */
#define CPLUS_OPTIONS DMGL_ANSI
#define RUST_HASH     20 /* 17h, 16 hexadecimal digits, E */

/*
 * libiberty keeps a name's tree on the stack and parses by recursion; the worst that
 * 64 KB could be made of took 14 MB. By itself it refuses names of more than 1,024
 * bytes; told not to, it has no limit. So longer ones are only given to it where the
 * stack is large enough, and where what it copies while printing stays within this.
 */
#define USUAL_BYTES	 1024
#define COPIES_BYTES_MAX (16u << 20)
#define SUFFIX_BYTES_MAX 64 /* that stand behind a name which is shortened */

/* libiberty prints in pieces and cannot be told to stop; a short name made of
 * back references prints gigabytes. So what does not fit is jumped out of. */
struct bounded {
	struct str text;
	jmp_buf full;
};

enum { WHOLE, CUT, NONE };

static void take(const char *piece, size_t n, void *arg)
{
	struct bounded *out = arg;
	size_t room = NAME_BYTES_MAX - 1 - out->text.n;

	str_add_bytes(&out->text, piece, n < room ? n : room);
	if (n > room)
		longjmp(out->full, 1);
}

/* Printing, it makes a copy of each template that is open for each reference to a
 * parameter of one: how much that can be, from the letters that may mean these. */
static size_t copies_bytes(const char *mangled, size_t n)
{
	size_t templates = 0, references = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		char next = mangled[i + 1], third = i + 2 < n ? mangled[i + 2] : '\0';

		templates += mangled[i] == 'I';
		if (mangled[i] == 'R' || mangled[i] == 'O')
			references += next == 'T' || (next == 'S' && !islower(third));
	}
	/* each is met twice, and takes 16 bytes */
	return 2 * templates * 2 * references * 16;
}

static bool has_stack(size_t bytes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur >= bytes;
}

static bool print_cplus(struct bounded *out, const char *mangled, size_t n)
{
	int options = CPLUS_OPTIONS;

	if (n > USUAL_BYTES) {
		if (copies_bytes(mangled, n) > COPIES_BYTES_MAX ||
		    !has_stack(DEMANGLE_STACK_BYTES))
			return false;
		options |= DMGL_NO_RECURSE_LIMIT;
	}
	return cplus_demangle_v3_callback(mangled, options, take, out);
}

static int print(struct bounded *out, const char *mangled, size_t n)
{
	str_clear(&out->text);
	if (setjmp(out->full))
		return CUT;
	if (rust_demangle_callback(mangled, 0, take, out))
		return out->text.n ? WHOLE : NONE;
	str_clear(&out->text);
	if (mangled[1] == 'R')
		return NONE;
	return print_cplus(out, mangled, n) && out->text.n ? WHOLE : NONE;
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

#define OF_FRAME       ".Frame"
#define OF_FRAME_BYTES (sizeof(OF_FRAME) - 1)

/* gcc names the body of a coroutine by the type of its frame, which is no news:
 * task.Frame.actor. */
static size_t frame_length(const char *name, size_t n)
{
	return n > OF_FRAME_BYTES && !memcmp(name, OF_FRAME, OF_FRAME_BYTES) &&
			       name[OF_FRAME_BYTES] == '.'
		       ? OF_FRAME_BYTES
		       : 0;
}

/* That type's name has the coroutine's whole one, with the arguments of its template:
 * _Z4taskPZ4taskILi1EEvvE20_Z4taskILi1EEvv.Frame.actor. Where that begins, of a name that
 * goes up to the frame; 0: nowhere. */
static size_t coroutine_at(const char *name, size_t n)
{
	char bytes[24];

	for (size_t at = n; at-- > 2;) {
		size_t digits;

		if (n - at <= 2 || memcmp(name + at, "_Z", 2))
			continue;
		digits = (size_t)snprintf(bytes, sizeof(bytes), "%zu",
					  n + OF_FRAME_BYTES - at);
		if (at > digits && !memcmp(name + at - digits, bytes, digits))
			return at;
	}
	return 0;
}

/* Is that all of a version, which may be a library's name? */
static bool is_version(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("@._-+", text[i]))
			return false;
	return true;
}

/* Without @VERSION, which no mangling uses but Rust's legacy one could. Files of
 * JavaScript may be called so in their midst, and methods of Crystal; NASM's labels of
 * macros begin so, behind dots: ..@4.loop. */
static size_t without_version(const char *name, size_t n)
{
	const char *at;
	size_t first = 0;

	while (first < n && name[first] == '.')
		first++;
	at = first < n ? memchr(name + first + 1, '@', n - first - 1) : NULL;
	return at && is_version(at, (size_t)(name + n - at)) && !rust_length(name, n)
		       ? (size_t)(at - name)
		       : n;
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

/* What was appended to a symbol, behind its mangled part. */
static size_t suffix_at(const char *symbol, size_t n, size_t length)
{
	return length + frame_length(symbol + length, n - length);
}

static bool add_demangled(struct str *out, struct bounded *text, const char *symbol,
			  size_t n)
{
	size_t length = mangled_length(symbol, n), at = suffix_at(symbol, n, length);
	size_t begin = at > length ? coroutine_at(symbol, length) : 0;
	AUTO_FREE char *mangled = strndup(symbol + begin, length - begin);
	int how = mangled ? print(text, mangled, length - begin) : NONE;

	if (how == WHOLE && text->text.n + n - at >= NAME_BYTES_MAX)
		how = CUT;
	out->failed |= !mangled || text->text.failed;
	if (how == NONE || out->failed)
		return false;
	if (how == CUT)
		name_add_head(out, text->text.s, text->text.n, symbol, n);
	else
		str_add_clean(out, text->text.s, text->text.n, text->text.n);
	if (how == WHOLE || n - at <= SUFFIX_BYTES_MAX) /* the hash is of it, too */
		str_add_clean(out, symbol + at, n - at, n - at);
	return true;
}

void demangle(struct str *out, const char *symbol, size_t n)
{
	struct bounded text = { .text = { 0 } };

	n = strnlen(symbol, n);
	n = without_version(symbol, n);
	n = without_llvm(symbol, n);
	if (n > MANGLED_BYTES_MAX || !is_mangled(symbol, n) ||
	    !add_demangled(out, &text, symbol, n))
		name_add(out, symbol, n);
	str_free(&text.text);
}
