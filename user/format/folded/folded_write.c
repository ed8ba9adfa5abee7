// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: a line a distinct stack, root to leaf, `;` between frames, a
 * space and how often it was seen. What every flame graph tool reads. Lines are
 * sorted by their bytes and distinct; their counts add up to the profile's.
 *
 * The text is never held whole: siblings are sorted as the lines would be, a
 * stack that ends at a node before those that go on through it with a `;`.
 */
#include "format/output_buffer.h"
#include "format/writer.h"

#include "base/error.h"
#include "core/tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A branch from a node: an end at a child, or through it. */
struct folded_branch {
	const char *text;
	uint32_t node, guarded; /* guarded: index of '_' in place of a blank, + 1 */
	bool is_end;
};

struct level {
	size_t next, end; /* in branches */
	size_t line;	  /* how long the line is above */
};

struct folded_writer_state {
	const struct tree *tree;
	struct output_buffer buffer;
	struct str line;
	VEC(struct folded_branch) branches; /* of all open levels */
	VEC(struct level) levels;
};

static bool is_marker(const char *name)
{
	return !strcmp(name, PROFILE_BOUNDARY_NAME) || !strcmp(name, PROFILE_GAP_NAME) ||
	       !strcmp(name, PROFILE_CUT_NAME);
}

/* A function may be called anything, also "f_[k]", which would say that the kernel's is
 * meant: it becomes "f_(k)". From `start` on is one name. */
static void guard_suffix(struct str *out, size_t start)
{
	char *end = out->s + out->n;

	if (out->failed || out->n <= start + 4 || end[-4] != '_' || end[-3] != '[' ||
	    !strchr("kji", end[-2]) || end[-1] != ']')
		return;
	end[-3] = '(';
	end[-1] = ')';
}

/* Names may hold what the format gives a meaning to. */
static void frame_text(struct str *out, const struct profile *r, uint32_t code)
{
	const char *name = profile_code_name(r, code);
	size_t start = out->n;

	/* what gets a suffix is told apart by that */
	if (PROFILE_IS_FRAME(code) && is_marker(name) &&
	    r->frames.items[code].type <= FRAME_TYPE_NATIVE)
		str_add_char(out, '_');
	for (; *name; name++)
		str_add_char(out, *name == ';' ? ':' : *name);
	if (!PROFILE_IS_FRAME(code))
		return;
	switch (r->frames.items[code].type) {
	case FRAME_TYPE_KERNEL:
		str_add(out, "_[k]");
		break;
	case FRAME_TYPE_JIT:
		str_add(out, "_[j]");
		break;
	case FRAME_TYPE_INLINED:
		str_add(out, "_[i]");
		break;
	default:
		guard_suffix(out, start);
		break;
	}
}

/* A thread may call itself anything, also nothing. What was folded text stays. */
static void comm_text(struct str *out, const struct profile *r, const char *comm)
{
	char blank = r->one_view ? ' ' : '_';

	if (!*comm)
		comm = "[no_name]";
	if (is_marker(comm) && !r->one_view)
		str_add_char(out, '_');
	for (; *comm; comm++)
		str_add_char(out, *comm == ';' ? ':' : *comm == ' ' ? blank : *comm);
}

static size_t before_digits(const char *s, size_t at)
{
	while (at && isdigit((unsigned char)s[at - 1]))
		at--;
	return at;
}

/* "name 12", or 1.5, at the leaf would be read as a count and a differential
 * pair; a blank there belongs to the count. */
static uint32_t guard(const char *text)
{
	size_t end = strlen(text), at = before_digits(text, end);

	if (at && text[at - 1] == '.') {
		end = at - 1;
		at = before_digits(text, end);
	}
	/* a blank at the end of all would be one more before the count */
	return at && text[at - 1] == ' ' && (at < end || !text[at]) ? (uint32_t)at : 0;
}

static int char_of(const struct folded_branch *branch, size_t i)
{
	if (!branch->text[i])
		return branch->is_end ? 0 : ';';
	return i + 1 == branch->guarded ? '_' : (unsigned char)branch->text[i];
}

static int by_line(const void *a, const void *b)
{
	const struct folded_branch *x = a, *y = b;

	for (size_t i = 0;; i++) {
		int difference = char_of(x, i) - char_of(y, i);

		if (difference || !x->text[i])
			return difference;
	}
}

static int open_level(struct folded_writer_state *f, uint32_t node)
{
	const struct tree *tree = f->tree;
	struct level level = { f->branches.n, 0, f->line.n };
	int err = 0;

	for (uint32_t i = tree->first[node]; !err && i < tree->first[node + 1]; i++) {
		uint32_t child = tree->order[i];
		const char *text = tree_text(tree, child);

		if (tree->self.items[child])
			err = vec_push(
				&f->branches,
				(struct folded_branch){ text, child, guard(text), true });
		if (!err && tree->first[child] != tree->first[child + 1])
			err = vec_push(&f->branches,
				       (struct folded_branch){ text, child, 0, false });
	}
	level.end = f->branches.n;
	if (err || level.next == level.end)
		return err;
	qsort(f->branches.items + level.next, level.end - level.next,
	      sizeof(*f->branches.items), by_line);
	return vec_push(&f->levels, level);
}

/* Ends that look alike are one line. */
static int write_end(struct folded_writer_state *f, struct level *level)
{
	const struct folded_branch *branch = &f->branches.items[level->next++];
	uint64_t count = f->tree->self.items[branch->node];

	while (level->next < level->end && f->branches.items[level->next].is_end &&
	       !by_line(branch, &f->branches.items[level->next]))
		count += f->tree->self.items[f->branches.items[level->next++].node];
	str_add_bytes(&f->buffer.text, f->line.s, f->line.n);
	str_add(&f->buffer.text, branch->text);
	if (branch->guarded)
		f->buffer.text.s[f->buffer.text.n - strlen(branch->text) +
				 branch->guarded - 1] = '_';
	str_addf(&f->buffer.text, " %" PRIu64 "\n", count);
	return output_buffer_drain(&f->buffer);
}

static int write_lines(struct folded_writer_state *f)
{
	int err = open_level(f, 0);

	/* a level that has no branch was not opened */
	while (!err && f->levels.n) {
		struct level *level = &f->levels.items[f->levels.n - 1];

		f->line.n = level->line;
		if (level->next == level->end) {
			f->levels.n--;
			f->branches.n =
				f->levels.n ? f->levels.items[f->levels.n - 1].end : 0;
		} else if (f->branches.items[level->next].is_end) {
			err = write_end(f, level);
		} else {
			const struct folded_branch *branch =
				&f->branches.items[level->next++];

			str_add(&f->line, branch->text);
			str_add_char(&f->line, ';');
			err = str_error(&f->line);
			if (!err)
				err = open_level(f, branch->node);
		}
	}
	return err;
}

static int folded_write(struct outfile *out, const struct profile *profile,
			const struct writer_options *options)
{
	const struct tree_options how = {
		.view = options->view,
		.group = GROUP_COMM,
		.frame_text = frame_text,
		.group_text = comm_text,
	};
	struct folded_writer_state f = { .buffer.out = out };
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, profile, &how);

	f.tree = tree;
	if (!err)
		err = write_lines(&f);
	if (!err)
		err = output_buffer_close(&f.buffer);
	output_buffer_free(&f.buffer);
	str_free(&f.line);
	vec_free(&f.branches);
	vec_free(&f.levels);
	return err;
}

const struct writer folded_writer = {
	.name = "folded",
	.endings = { ".folded", ".txt" },
	.text = "Folded stacks, as below; also the format of a name without an ending.\n"
		"Holds one view, no time and no process numbers.",
	.next = "weft report",
	.write = folded_write,
};
