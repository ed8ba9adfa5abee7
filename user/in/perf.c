// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `perf script` prints: a line with thread, time and event, then the frames,
 * leaf first, then an empty line.
 *
 *   redis-server  812/815  [001]  1234.567890:     101010 cycles:
 *           55d0c0a41234 dictFind+0x14 (/usr/bin/redis-check-rdb)
 */
#include "in/reader.h"
#include "in/stack.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MOST (64u << 10)

struct sample_line {
	const char *comm;
	size_t comm_bytes;
	uint32_t pid, tid, second;
};

struct perf_parser {
	struct stack_builder b;
	struct sample_line sample;
	bool in_sample;
	char comm[256];
};

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
		size_t start;

		while (at < n && isspace((unsigned char)line[at]))
			at++;
		for (start = at; at < n && !isspace((unsigned char)line[at]);)
			at++;
		if (!is_time(line + start, at - start))
			continue;
		ret->second = (uint32_t)strtoul(line + start, NULL, 10);
		return read_owner(line, start, ret);
	}
	return false;
}

/* perf puts comments before it all when it is asked for a header. */
static bool is_perf(const char *head, size_t n)
{
	while (n) {
		const char *newline = memchr(head, '\n', n);
		size_t length = newline ? (size_t)(newline - head) : n;
		struct sample_line sample;

		if (length && head[0] != '#')
			return read_head(head, length, &sample);
		if (!newline)
			return false;
		head += length + 1;
		n -= length + 1;
	}
	return false;
}

static bool begins(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(s, with, strlen(with));
}

static enum place place_of(const char *module, size_t n)
{
	if (begins(module, n, "[kernel") || begins(module, n, "[guest.kernel") ||
	    (n > 3 && !memcmp(module + n - 3, ".ko", 3)))
		return PLACE_KERNEL;
	if (begins(module, n, "/tmp/perf-"))
		return PLACE_JIT;
	if (begins(module, n, "inlined") && n == 7)
		return PLACE_INLINED;
	/* modules of the kernel stand in brackets, but so does what is no file */
	if (n && *module == '[' && !begins(module, n, "[unknown") &&
	    !begins(module, n, "[vdso") && !begins(module, n, "[vsyscall") &&
	    !begins(module, n, "[heap") && !begins(module, n, "[stack"))
		return PLACE_KERNEL;
	return PLACE_NATIVE;
}

static size_t without_offset(const char *name, size_t n)
{
	for (size_t at = n; at > 3; at--)
		if (!memcmp(name + at - 3, "+0x", 3))
			return at - 3;
	return n;
}

/* "addr name+0x14 (module)" */
static int add_frame(struct perf_parser *p, const char *line, size_t n)
{
	struct reading_module module = { 0 };
	struct reading_frame rest = { 0 };
	const char *end = line + n, *open = NULL;
	char *name;
	uint64_t address = strtoull(line, &name, 16);
	int err = 0;

	while (name < end && isspace((unsigned char)*name))
		name++;
	for (const char *s = name; s + 1 < end; s++)
		if (s[0] == ' ' && s[1] == '(')
			open = s + 1;
	if (open && end[-1] == ')') {
		rest.place = place_of(open + 1, (size_t)(end - open) - 2);
		if (rest.place != PLACE_INLINED)
			err = reading_add_string(p->b.r, open + 1,
						 (size_t)(end - open) - 2, &module.path);
		end = open - 1;
	}
	if (!err)
		err = reading_add_module(p->b.r, &module, &rest.module);
	n = end > name ? without_offset(name, (size_t)(end - name)) : 0;
	if (!n || begins(name, n, "[unknown]")) { /* named by where it lies */
		rest.offset = rest.place == PLACE_KERNEL ? 0 : address;
		n = 0;
	}
	return err ? err : stack_add_frame(&p->b, name, n, &rest);
}

static int end_sample(struct perf_parser *p)
{
	uint32_t stack = READING_NO_STACK, thread;
	int err;

	if (!p->in_sample)
		return 0;
	p->in_sample = false;
	err = stack_finish(&p->b, true, &stack);
	if (!err)
		err = stack_thread(p->b.r, p->comm, strlen(p->comm), p->sample.pid,
				   p->sample.tid, &thread);
	if (err || stack == READING_NO_STACK)
		return err;
	return timeline_add(&p->b.r->timeline, p->sample.second, stack, thread, 1);
}

static int take_line(struct perf_parser *p, const char *line, size_t n)
{
	bool is_head = n && !isspace((unsigned char)*line) && *line != '#';
	struct sample_line sample;
	int err = 0;

	if (!n || is_head || read_head(line, n, &sample)) {
		err = end_sample(p);
		if (!n || err)
			return err;
		if (!read_head(line, n, &p->sample)) {
			p->b.r->left_out++;
			return 0;
		}
		str_clean(p->comm, sizeof(p->comm), p->sample.comm, p->sample.comm_bytes);
		p->in_sample = true;
		return 0;
	}
	while (n && isspace((unsigned char)*line)) {
		line++;
		n--;
	}
	return p->in_sample && n && isxdigit((unsigned char)*line) ? add_frame(p, line, n)
								   : 0;
}

static int perf_read(struct source *source, struct reading *reading)
{
	struct perf_parser p = { .b.r = reading };
	AUTO_STR line = { 0 };
	int err = 0;

	reading->one_view = true;
	while (!err && source_line(source, &line, LINE_BYTES_MOST)) {
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
	.name = "the text of perf script",
	.accepts = is_perf,
	.read = perf_read,
};
