// SPDX-License-Identifier: BSD-2-Clause
/*
 * One name, shortened: C++'s and Rust's as demanglers print them; what has no `::`, no
 * brackets and no suffix stays. Any bytes may come. One pass over a name, no recursion.
 */
#include "core/short_names.h"

#include <ctype.h>
#include <string.h>

#define TAIL_PARTS 2 /* Class::method */

/*
 * What compilers append to the name of a part of a function, or of a copy. Go's names
 * have dots as well, and may end so: it has functions `resume` and `cold`, but none of
 * `part.0`, and its packages' names have no `::` or brackets. By itself os.cold might be
 * C's, so the caller says whether its program is Go's.
 */
static const struct {
	const char *text;
	bool is_numbered; /* always */
	bool is_cplus;	  /* only C++'s */
} suffixes[] = {
	{ ".cold", false, false },
	{ ".part", true, false },
	{ ".isra", true, false },
	{ ".constprop", true, false },
	{ ".lto_priv", true, false },
	{ ".actor", false, true },
	{ ".resume", false, true },
	{ ".destroy", false, true },
	{ ".cleanup", false, true },
	/* clang's, of basic blocks in sections of their own, ThinLTO and unique names */
	{ ".__part", true, false },
	{ ".llvm", true, false },
	{ ".__uniq", true, false },
	{ ".warm", false, false }, /* BOLT's */
};

static bool is_cplus(const char *name, size_t n)
{
	return memmem(name, n, "::", 2) || memchr(name, '<', n);
}

/* The length without ".0", or n. */
static size_t without_number(const char *name, size_t n)
{
	size_t end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end < n && end && name[end - 1] == '.' ? end - 1 : n;
}

/* The length without a last ".isra.0", or n. */
static size_t without_suffix(const char *name, size_t n, bool is_go)
{
	size_t end = without_number(name, n);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t length = strlen(suffixes[i].text);

		if (end <= length ||
		    memcmp(name + end - length, suffixes[i].text, length) != 0)
			continue;
		if ((suffixes[i].is_numbered && end == n) ||
		    ((suffixes[i].is_cplus || (is_go && end == n)) &&
		     !is_cplus(name, end - length)) ||
		    memchr(name, '/', end))
			return n;
		return end - length;
	}
	return n;
}

static size_t own_length(const char *name, bool is_go)
{
	size_t n = strlen(name), before;

	do {
		before = n;
		n = without_suffix(name, n, is_go);
	} while (n < before);
	return n;
}

/* "operator" and its sign, of which brackets are no brackets; 0: it is another word. */
static size_t operator_length(const char *at, const char *begin, const char *end)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1, left = (size_t)(end - at);

	if (left <= length || memcmp(at, word, length) != 0 ||
	    (at > begin && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	if (left >= length + 2 && !memcmp(at + length, "()", 2))
		return length + 2;
	while (length < left && strchr("<>=-!+*/%^&|~,", at[length]))
		length++;
	return length;
}

static bool opens(char c)
{
	return c == '<' || c == '(' || c == '{' || c == '[';
}

static bool closes(char c, const char *at, const char *begin)
{
	return (c == '>' && !(at > begin && at[-1] == '-')) || c == ')' || c == '}' ||
	       c == ']';
}

/* Does a part say something by itself? "{lambda()#1}", "operator()", "<…>" don't. */
static bool is_plain(const char *part, const char *end)
{
	static const char call[] = "operator()";
	size_t n = (size_t)(end - part);

	return n && !opens(*part) &&
	       !(n >= sizeof(call) - 1 && !memcmp(part, call, sizeof(call) - 1));
}

struct name_scan {
	const char *at;
	unsigned int depth; /* of brackets */
};

/* Goes on to behind the next sign, or an operator's name. */
static void step(struct name_scan *scan, const char *begin, const char *end)
{
	size_t word = scan->depth ? 0 : operator_length(scan->at, begin, end);

	if (word) {
		scan->at += word;
		return;
	}
	if (opens(*scan->at))
		scan->depth++;
	else if (scan->depth && closes(*scan->at, scan->at, begin))
		scan->depth--;
	scan->at++;
}

static bool is_boundary(const struct name_scan *scan, const char *end)
{
	return !scan->depth && end - scan->at >= 2 && !memcmp(scan->at, "::", 2);
}

#define STARTS_KEPT 8 /* of the last parts; more of them need no shortening to be told */

/* Where the last parts begin of which TAIL_PARTS are plain. */
static const char *find_tail(const char *begin, const char *end)
{
	const char *starts[STARTS_KEPT] = { begin };
	struct name_scan scan = { .at = begin };
	size_t n = 1, plain = 0, i;

	while (scan.at < end) {
		if (is_boundary(&scan, end)) {
			scan.at += 2;
			starts[n++ % STARTS_KEPT] = scan.at;
		} else {
			step(&scan, begin, end);
		}
	}
	for (i = n; i-- && n - i < STARTS_KEPT;) {
		const char *start = starts[i % STARTS_KEPT];

		plain += is_plain(start, end);
		if (plain == TAIL_PARTS || !i)
			return start;
	}
	return starts[(i + 1) % STARTS_KEPT];
}

/* Does a list of parameters begin here, and not Go's (*T) or an (anonymous namespace)? */
static bool is_after_name(const char *at, const char *begin)
{
	return at > begin &&
	       (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '>');
}

/* Without what stands in <> and behind a name in (); {lambda()#1}, [abi:cxx11] and
 * (anonymous namespace) stay. */
static void add_folded(struct str *out, const char *begin, const char *end)
{
	struct name_scan scan = { .at = begin };

	while (scan.at < end) {
		const char *from = scan.at;
		bool was_inside = scan.depth;

		step(&scan, begin, end);
		if (!was_inside && scan.depth &&
		    (*from == '<' || (*from == '(' && is_after_name(from, begin)))) {
			while (scan.at < end && scan.depth)
				step(&scan, begin, end);
			str_add(out, *from == '<' ? "<…>" : "");
			continue;
		}
		str_add_bytes(out, from, (size_t)(scan.at - from));
	}
}

void short_name_add(struct str *out, const char *name, enum short_level level, bool is_go)
{
	const char *end = name + own_length(name, is_go);
	size_t before = out->n;
	const char *from = level < SHORT_PATH ? find_tail(name, end) : name;

	if (level == SHORT_ARGUMENTS || level == SHORT_WHOLE)
		str_add_bytes(out, from, (size_t)(end - from));
	else
		add_folded(out, from, end);
	if (out->n == before) /* there is nothing but brackets */
		str_add(out, name);
}
