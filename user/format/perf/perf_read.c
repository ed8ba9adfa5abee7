// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `perf script` prints: a line with thread, time and event, then the frames,
 * leaf first, then an empty line.
 *
 *   redis-server  812/815  [001]  1234.567890:     101010 cycles:
 *           55d0c0a41234 dictFind+0x14 (/usr/bin/redis-check-rdb)
 *
 * Where no callers were recorded, the one frame stands behind the event.
 */
#include "format/reader.h"
#include "format/stack.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PERF_LINE_MAX (2u << 20)

struct sample_line {
	const char *comm;
	size_t comm_bytes;
	uint32_t pid, tid, second;
	const char *rest; /* behind the time */
	size_t rest_bytes;
};

struct perf_parser {
	struct stack_builder b;
	struct sample_line sample;
	bool in_sample;
	bool has_lone; /* the stack at hand is the head line's frame */
	char comm[256];
};

static bool begins(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(s, with, strlen(with));
}

static size_t blanks(const char *s, size_t n)
{
	size_t at = 0;

	while (at < n && isspace((unsigned char)s[at]))
		at++;
	return at;
}

static size_t word_bytes(const char *s, size_t n)
{
	size_t at = 0;

	while (at < n && !isspace((unsigned char)s[at]))
		at++;
	return at;
}

/* How long the address is that the line begins with; 0: with none. */
static size_t address_bytes(const char *s, size_t n)
{
	size_t word = word_bytes(s, n), at = 0;

	while (at < word && at < 16 && isxdigit((unsigned char)s[at]))
		at++;
	return at == word ? at : 0;
}

/* "1234.567890:" */
static bool is_time(const char *word, size_t n)
{
	size_t i = 0, dot;

	while (i < n && isdigit((unsigned char)word[i]))
		i++;
	dot = i;
	if (!i || i >= n || word[i++] != '.')
		return false;
	while (i < n && isdigit((unsigned char)word[i]))
		i++;
	return i > dot + 1 && i + 1 == n && word[i] == ':';
}

/* The blanks before `end`, then the word before these; where it begins. */
static size_t word_before(const char *line, size_t *end)
{
	size_t at;

	while (*end && isspace((unsigned char)line[*end - 1]))
		--*end;
	for (at = *end; at && !isspace((unsigned char)line[at - 1]);)
		at--;
	return at;
}

static bool read_ids(const char *word, size_t n, struct sample_line *ret)
{
	char text[32], *after;

	if (!n || n >= sizeof(text) || !isdigit((unsigned char)*word))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	ret->pid = ret->tid = (uint32_t)strtoul(text, &after, 10);
	if (*after == '/')
		ret->tid = (uint32_t)strtoul(after + 1, &after, 10);
	return !*after;
}

/* What stands before the time: comm, pid or pid/tid, and perhaps [cpu]. */
static bool read_owner(const char *line, size_t end, struct sample_line *ret)
{
	size_t at = word_before(line, &end);

	if (end > at && line[at] == '[') {
		end = at;
		at = word_before(line, &end);
	}
	if (!read_ids(line + at, end - at, ret))
		return false;
	end = at;
	word_before(line, &end);
	ret->comm = line;
	ret->comm_bytes = end;
	while (ret->comm_bytes && isspace((unsigned char)*ret->comm)) {
		ret->comm++;
		ret->comm_bytes--;
	}
	return ret->comm_bytes;
}

static bool read_head(const char *line, size_t n, struct sample_line *ret)
{
	for (size_t at = 0; at < n;) {
		size_t start = at + blanks(line + at, n - at);

		at = start + word_bytes(line + start, n - start);
		if (!is_time(line + start, at - start))
			continue;
		ret->second = (uint32_t)strtoul(line + start, NULL, 10);
		ret->rest = line + at;
		ret->rest_bytes = n - at;
		return read_owner(line, start, ret);
	}
	return false;
}

/* Between samples: --show-round-events, -F +srccode */
static bool is_between(const char *line, size_t n)
{
	return begins(line, n, "PERF_RECORD_") ||
	       (n > 1 && line[0] == '|' && isdigit((unsigned char)line[1]));
}

/* perf puts comments before it all when it is asked for a header. */
static bool is_perf(const char *head, size_t n)
{
	while (n) {
		const char *newline = memchr(head, '\n', n);
		size_t length = newline ? (size_t)(newline - head) : n;
		struct sample_line sample;

		if (read_head(head, length, &sample) && head[0] != '#')
			return true;
		if (blanks(head, length) < length && head[0] != '#' &&
		    !is_between(head, length))
			return false;
		if (!newline)
			return false;
		head += length + 1;
		n -= length + 1;
	}
	return false;
}

static enum frame_type frame_type_of(const char *module, size_t n)
{
	if (begins(module, n, "[kernel") || begins(module, n, "[guest.kernel") ||
	    (n > 3 && !memcmp(module + n - 3, ".ko", 3)))
		return FRAME_TYPE_KERNEL;
	if (begins(module, n, "/tmp/perf-"))
		return FRAME_TYPE_JIT;
	if (begins(module, n, "inlined") && n == 7)
		return FRAME_TYPE_INLINED;
	/* modules of the kernel stand in brackets, but so does what is no file */
	if (n && *module == '[' && !begins(module, n, "[unknown") &&
	    !begins(module, n, "[vdso") && !begins(module, n, "[vsyscall") &&
	    !begins(module, n, "[heap") && !begins(module, n, "[stack"))
		return FRAME_TYPE_KERNEL;
	return FRAME_TYPE_NATIVE;
}

static size_t without_offset(const char *name, size_t n)
{
	for (size_t at = n; at > 3; at--)
		if (!memcmp(name + at - 3, "+0x", 3))
			return at - 3;
	return n;
}

/* "+0x14 (": how long it is before the blank; 0: it is none. */
static size_t offset_bytes(const char *s, size_t n)
{
	size_t at = 3;

	if (!begins(s, n, "+0x"))
		return 0;
	while (at < n && isxdigit((unsigned char)s[at]))
		at++;
	return at > 3 && begins(s + at, n - at, " (") ? at : 0;
}

/* Where the module's "(" is; n: there is none. Both names may hold blanks and
 * parentheses. What perf puts between them tells, else what is closed at the end. */
static size_t find_module(const char *s, size_t n)
{
	size_t last = n, depth = 0;

	if (!n || s[n - 1] != ')')
		return n;
	if (begins(s, n, "[unknown] ("))
		return strlen("[unknown] ");
	for (size_t at = 0; at < n; at++) {
		size_t offset = offset_bytes(s + at, n - at);

		if (offset)
			return at + offset + 1;
	}
	for (size_t at = n - 1; at; at--) {
		depth += s[at] == ')';
		if (s[at] != '(')
			continue;
		depth -= depth > 0;
		if (s[at - 1] == ' ' && !depth)
			return at;
		if (s[at - 1] == ' ' && last == n)
			last = at;
	}
	return last;
}

/* The kernel says so of a file that another one may have replaced. */
static size_t without_deleted(const char *module, size_t n)
{
	size_t m = strlen(" (deleted)");

	return n > m && !memcmp(module + n - m, " (deleted)", m) ? n - m : n;
}

/* "addr name+0x14 (module)" */
static int read_frame(struct stack_builder *b, const char *line, size_t n)
{
	struct profile_module module = { 0 };
	struct profile_frame rest = { 0 };
	uint64_t address = strtoull(line, NULL, 16);
	size_t at = address_bytes(line, n), open;
	const char *name;
	int err = 0;

	at += blanks(line + at, n - at);
	name = line + at;
	n -= at;
	open = find_module(name, n);
	if (open < n) {
		const char *path = name + open + 1;
		size_t length = without_deleted(path, n - open - 2);

		rest.type = frame_type_of(path, length);
		if (rest.type != FRAME_TYPE_INLINED)
			err = profile_add_string(b->r, path, length, &module.path);
		n = open - 1;
	}
	if (!err)
		err = profile_add_module(b->r, &module, &rest.module);
	n = without_offset(name, n);
	if (!n || begins(name, n, "[unknown]")) { /* named by where it lies */
		rest.offset = rest.type == FRAME_TYPE_KERNEL ? 0 : address;
		n = 0;
	}
	return err ? err : stack_add_frame(b, name, n, &rest);
}

/* Behind "5025125 cpu-clock:", of which -F may leave out either. */
static size_t after_event(const char *s, size_t n)
{
	size_t at = 0;

	for (int words = 0; words < 2; words++) {
		at += blanks(s + at, n - at);
		at += word_bytes(s + at, n - at);
		if (at && s[at - 1] == ':')
			return at;
	}
	return 0;
}

/* -F +addr puts what was accessed before where that was, with or without a name. */
static size_t skip_accessed(const char *s, size_t n)
{
	size_t first = address_bytes(s, n), last = 0;

	first += blanks(s + first, n - first);
	for (size_t at = 2; at < n; at++) {
		size_t start, name;

		if (at != first && memcmp(s + at - 2, ") ", 2) != 0)
			continue;
		start = name = at + blanks(s + at, n - at);
		name += address_bytes(s + start, n - start);
		if (name == start)
			continue;
		name += blanks(s + name, n - name);
		if (name < n && s[name] != '(') /* or else it is a name like "add" */
			last = start;
	}
	return last;
}

/* What stands behind the event: a tracepoint's text, or the frame of a sample
 * without callers, further to the right. */
static int add_lone(struct perf_parser *p, const char *s, size_t n)
{
	size_t at = after_event(s, n), indent = blanks(s + at, n - at), name;

	s += at + indent;
	n -= at + indent;
	at = skip_accessed(s, n);
	s += at;
	n -= at;
	name = address_bytes(s, n);
	if (indent < 2 || !name || name == n)
		return 0;
	name += blanks(s + name, n - name);
	if (s[n - 1] != ')' && word_bytes(s + name, n - name) < n - name) {
		p->b.r->left_out++; /* branches, registers: where would it end? */
		return 0;
	}
	p->has_lone = true;
	return stack_add_text(&p->b, s, n, read_frame);
}

static int end_sample(struct perf_parser *p)
{
	uint32_t stack = PROFILE_NO_STACK, thread;
	int err;

	if (!p->in_sample)
		return 0;
	p->in_sample = false;
	err = stack_finish(&p->b, true, &stack);
	if (!err)
		err = stack_thread(p->b.r,
				   &(struct stack_owner){ p->comm, strlen(p->comm),
							  p->sample.pid, p->sample.tid },
				   &thread);
	if (err || stack == PROFILE_NO_STACK)
		return err;
	return timeline_add(&p->b.r->timeline, p->sample.second, stack, thread, 1);
}

/* What -F +srcline and +insn put beneath frames: "  x.c:4", "  name+4", "  x.so[4f]" */
static bool is_beneath(const char *line, size_t n)
{
	bool bracket;
	size_t end, at;

	if (begins(line, n, " insn:") || begins(line, n, " ilen:"))
		return true;
	if (n < 4 || memcmp(line, "  ", 2) != 0 || isspace((unsigned char)line[2]))
		return false;
	for (at = n; line[n - 1] == ')' && at > 2; at--)
		if (begins(line + at, n - at, " (discriminator ") ||
		    begins(line + at, n - at, " (inlined)"))
			n = at;
	bracket = line[n - 1] == ']';
	at = end = n - bracket;
	while (at > 2 && (bracket ? isxdigit((unsigned char)line[at - 1])
				  : isdigit((unsigned char)line[at - 1])))
		at--;
	if (at == end)
		return false;
	return bracket ? line[at - 1] == '[' : line[at - 1] == ':' || line[at - 1] == '+';
}

static int take_head(struct perf_parser *p, const char *line, size_t n)
{
	struct sample_line *sample = &p->sample;
	size_t at;

	if (!read_head(line, n, sample)) {
		p->b.r->left_out += !is_between(line, n);
		return 0;
	}
	at = blanks(sample->rest, sample->rest_bytes);
	if (begins(sample->rest + at, sample->rest_bytes - at, "PERF_RECORD_"))
		return 0; /* --show-mmap-events and the like: nothing was sampled */
	str_clean(p->comm, sizeof(p->comm), sample->comm, sample->comm_bytes);
	p->in_sample = true;
	p->has_lone = false;
	return add_lone(p, sample->rest, sample->rest_bytes);
}

static int take_line(struct perf_parser *p, const char *line, size_t n)
{
	bool is_head = n && !isspace((unsigned char)*line) && *line != '#';
	struct sample_line sample;
	size_t at = blanks(line, n);
	int err;

	if (!n || is_head || read_head(line, n, &sample)) {
		err = end_sample(p);
		return !n || err ? err : take_head(p, line, n);
	}
	if (!p->in_sample || is_beneath(line, n))
		return 0;
	if (!address_bytes(line + at, n - at)) {
		p->b.r->left_out++;
		return 0;
	}
	if (p->has_lone) /* then it was the text of a tracepoint, or -F +addr's */
		p->b.codes.n = 0;
	p->has_lone = false;
	return stack_add_text(&p->b, line + at, n - at, read_frame);
}

static int perf_read(struct source *source, struct profile *profile)
{
	struct perf_parser p = { .b.r = profile };
	AUTO_STR line = { 0 };
	int err = 0;

	profile->one_view = true;
	while (!err && source_line(source, &line, PERF_LINE_MAX)) {
		size_t n = line.n;

		err = str_error(&line);
		while (n && isspace((unsigned char)line.s[n - 1]))
			n--;
		if (line.s)
			line.s[n] = '\0'; /* numbers end there, too */
		if (!err && !(n && line.s[0] == '#'))
			err = take_line(&p, line.s ? line.s : "", n);
	}
	if (!err)
		err = end_sample(&p);
	stack_builder_free(&p.b);
	return err;
}

const struct reader perf_reader = {
	.name = "the output of perf script",
	.accepts = is_perf,
	.read = perf_read,
};
