// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks, ours and other tools': frames with `;` between, a blank, a
 * count. The first frame is the thread's name. There is one view, no time and no
 * module; a frame's kind is told by its suffix. Lines that begin with `#` are
 * comments, unless they are a stack: of a thread that is named so.
 */
#include "format/reader.h"
#include "format/stack.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define FOLDED_LINE_MAX (64u << 20) /* a longer one has lost its count */

static size_t before_digits(const char *line, size_t at)
{
	while (at && isdigit((unsigned char)line[at - 1]))
		at--;
	return at;
}

/* Where the count begins, and what it is; false: the line has none. A fraction
 * is dropped. */
static bool find_count(const char *line, size_t n, size_t *ret_end, uint64_t *ret_count)
{
	size_t end = n, at = before_digits(line, end);

	if (at && line[at - 1] == '.') {
		end = at - 1;
		at = before_digits(line, end);
	}
	if (at < 2 || at == end || line[at - 1] != ' ' || end - at > 18)
		return false;
	*ret_count = 0;
	for (size_t i = at; i < end; i++)
		*ret_count = *ret_count * 10 + (uint64_t)(line[i] - '0');
	*ret_end = at - 1;
	return true;
}

static bool is_comment(const char *line, size_t n)
{
	size_t end;
	uint64_t count;

	if (!n || *line != '#')
		return false;
	if (!find_count(line, n, &end, &count))
		return true;
	/* `# 3` is a thread's that is named so, `# of 3` is not likely to be */
	return end > 1 && line[1] == ' ' && !memchr(line, ';', end);
}

static bool is_text(const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

/* The first line that says something decides. */
static bool is_folded(const char *head, size_t n)
{
	bool is_whole = n < SOURCE_HEAD_BYTES;

	if (n > 1 && !memcmp(head, "#!", 2)) /* a script: its lines may end in numbers */
		return false;
	while (n) {
		const char *newline = memchr(head, '\n', n);
		size_t length = newline ? (size_t)(newline - head) : n, end;
		size_t taken = length + !!newline;
		uint64_t count;

		if (!is_text(head, length))
			return false;
		if (length && head[length - 1] == '\r')
			length--;
		if (length && !is_comment(head, length))
			/* one longer than what we see is no text of another kind */
			return newline || is_whole
				       ? find_count(head, length, &end, &count)
				       : memchr(head, ';', length) != NULL;
		head += taken;
		n -= taken;
	}
	return false;
}

static bool take_suffix(const char *name, size_t *n, const char *suffix)
{
	size_t m = strlen(suffix);

	if (*n <= m || memcmp(name + *n - m, suffix, m) != 0)
		return false;
	*n -= m;
	return true;
}

static bool is(const char *name, size_t n, const char *what)
{
	return strlen(what) == n && !memcmp(name, what, n);
}

static int read_frame(struct stack_builder *b, const char *name, size_t n)
{
	struct profile_frame rest = { .type = FRAME_TYPE_NATIVE };

	if (is(name, n, PROFILE_BOUNDARY_NAME))
		return stack_add_mark(b, VIEW_BOUNDARY | BOUNDARY_ASYNC);
	if (is(name, n, PROFILE_GAP_NAME))
		return stack_add_mark(b, VIEW_GAP);
	if (is(name, n, PROFILE_CUT_NAME))
		return stack_add_mark(b, VIEW_CUT);
	if (take_suffix(name, &n, "_[k]"))
		rest.type = FRAME_TYPE_KERNEL;
	else if (take_suffix(name, &n, "_[j]"))
		rest.type = FRAME_TYPE_JIT;
	else if (take_suffix(name, &n, "_[i]"))
		rest.type = FRAME_TYPE_INLINED;
	return stack_add_frame(b, n ? name : "[unknown]", n ? n : 9, &rest);
}

static int add_line(struct stack_builder *b, const char *line, size_t n, uint64_t count)
{
	size_t first = 0;
	uint32_t thread, stack = PROFILE_NO_STACK;
	int err;

	while (first < n && line[first] != ';')
		first++;
	err = stack_thread(b->r, &(struct stack_owner){ line, first, 0, 0 }, &thread);
	for (size_t at = first; !err && at < n;) {
		const char *name = line + at + 1;
		const char *end = memchr(name, ';', n - at - 1);
		size_t length = end ? (size_t)(end - name) : n - at - 1;

		err = stack_add_text(b, name, length, read_frame);
		at += 1 + length;
	}
	if (!err)
		err = stack_finish(b, false, &stack);
	if (err || stack == PROFILE_NO_STACK)
		return err;
	return timeline_add_undated(&b->r->timeline, stack, thread, count);
}

static int folded_read(struct source *source, struct profile *profile)
{
	struct stack_builder b = { .r = profile };
	AUTO_STR line = { 0 };
	int err = 0;

	profile->one_view = true;
	while (!err && source_line(source, &line, FOLDED_LINE_MAX)) {
		size_t n = line.n, end;
		uint64_t count;

		err = str_error(&line);
		if (n && line.s[n - 1] == '\r')
			n--;
		if (err || !n || is_comment(line.s, n))
			continue;
		if (find_count(line.s, n, &end, &count))
			err = add_line(&b, line.s, end, count);
		else
			profile->left_out++;
	}
	stack_builder_free(&b);
	return err;
}

const struct reader folded_reader = {
	.name = "folded stacks",
	.accepts = is_folded,
	.read = folded_read,
};
