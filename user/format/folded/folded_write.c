// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: a line a distinct stack, root to leaf, `;` between frames, a
 * space and how often it was seen. What every flame graph tool reads. Lines are
 * sorted by their bytes and distinct; their counts add up to the reading's.
 *
 * The text is never held whole: siblings are sorted as the lines would be, a
 * stack that ends at a node before those that go on through it with a `;`.
 */
#include "format/pen.h"
#include "format/writer.h"

#include "base/error.h"
#include "core/tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One way on from a node: an end at a child, or through it. */
struct way {
	const char *text;
	uint32_t node, guarded; /* guarded: index of '_' in place of a blank, + 1 */
	bool is_end;
};

struct level {
	size_t next, end; /* in ways */
	size_t line;	  /* how long the line is above */
};

struct folded_writer_state {
	const struct tree *tree;
	struct pen pen;
	struct str line;
	VEC(struct way) ways; /* of all open levels */
	VEC(struct level) levels;
};

static bool is_marker(const char *name)
{
	return !strcmp(name, READING_BOUNDARY_NAME) || !strcmp(name, READING_GAP_NAME) ||
	       !strcmp(name, READING_CUT_NAME);
}

/* Names may hold what the format gives a meaning to. */
static void frame_text(struct str *out, const struct reading *r, uint32_t code)
{
	const char *name = reading_code_name(r, code);

	/* what gets a suffix is told apart by that */
	if (READING_IS_FRAME(code) && is_marker(name) &&
	    r->frames.items[code].place <= PLACE_NATIVE)
		str_add_char(out, '_');
	for (; *name; name++)
		str_add_char(out, *name == ';' ? ':' : *name);
	if (!READING_IS_FRAME(code))
		return;
	switch (r->frames.items[code].place) {
	case PLACE_KERNEL:
		str_add(out, "_[k]");
		break;
	case PLACE_JIT:
		str_add(out, "_[j]");
		break;
	case PLACE_INLINED:
		str_add(out, "_[i]");
		break;
	default:
		break;
	}
}

/* A thread may call itself anything, also nothing. What was folded text stays. */
static void comm_text(struct str *out, const struct reading *r, const char *comm)
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

static int char_of(const struct way *way, size_t i)
{
	if (!way->text[i])
		return way->is_end ? 0 : ';';
	return i + 1 == way->guarded ? '_' : (unsigned char)way->text[i];
}

static int by_line(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	for (size_t i = 0;; i++) {
		int difference = char_of(x, i) - char_of(y, i);

		if (difference || !x->text[i])
			return difference;
	}
}

static int open_level(struct folded_writer_state *f, uint32_t node)
{
	const struct tree *tree = f->tree;
	struct level level = { f->ways.n, 0, f->line.n };
	int err = 0;

	for (uint32_t i = tree->first[node]; !err && i < tree->first[node + 1]; i++) {
		uint32_t child = tree->order[i];
		const char *text = tree_text(tree, child);

		if (tree->self.items[child])
			err = vec_push(&f->ways,
				       (struct way){ text, child, guard(text), true });
		if (!err && tree->first[child] != tree->first[child + 1])
			err = vec_push(&f->ways, (struct way){ text, child, 0, false });
	}
	level.end = f->ways.n;
	if (err || level.next == level.end)
		return err;
	qsort(f->ways.items + level.next, level.end - level.next, sizeof(*f->ways.items),
	      by_line);
	return vec_push(&f->levels, level);
}

/* Ends that look alike are one line. */
static int write_end(struct folded_writer_state *f, struct level *level)
{
	const struct way *way = &f->ways.items[level->next++];
	uint64_t count = f->tree->self.items[way->node];

	while (level->next < level->end && f->ways.items[level->next].is_end &&
	       !by_line(way, &f->ways.items[level->next]))
		count += f->tree->self.items[f->ways.items[level->next++].node];
	str_add_bytes(&f->pen.text, f->line.s, f->line.n);
	str_add(&f->pen.text, way->text);
	if (way->guarded)
		f->pen.text.s[f->pen.text.n - strlen(way->text) + way->guarded - 1] = '_';
	str_addf(&f->pen.text, " %" PRIu64 "\n", count);
	return pen_pass(&f->pen);
}

static int write_lines(struct folded_writer_state *f)
{
	int err = open_level(f, 0);

	/* a level that has no way on was not opened */
	while (!err && f->levels.n) {
		struct level *level = &f->levels.items[f->levels.n - 1];

		f->line.n = level->line;
		if (level->next == level->end) {
			f->levels.n--;
			f->ways.n =
				f->levels.n ? f->levels.items[f->levels.n - 1].end : 0;
		} else if (f->ways.items[level->next].is_end) {
			err = write_end(f, level);
		} else {
			const struct way *way = &f->ways.items[level->next++];

			str_add(&f->line, way->text);
			str_add_char(&f->line, ';');
			err = str_error(&f->line);
			if (!err)
				err = open_level(f, way->node);
		}
	}
	return err;
}

static int folded_write(struct outfile *out, const struct reading *reading,
			const struct writer_options *options)
{
	const struct tree_options how = {
		.view = options->view,
		.group = GROUP_COMM,
		.frame_text = frame_text,
		.group_text = comm_text,
	};
	struct folded_writer_state f = { .pen.out = out };
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, reading, &how);

	f.tree = tree;
	if (!err)
		err = write_lines(&f);
	if (!err)
		err = pen_close(&f.pen);
	pen_free(&f.pen);
	str_free(&f.line);
	vec_free(&f.ways);
	vec_free(&f.levels);
	return err;
}

const struct writer folded_writer = {
	.name = "folded",
	.endings = { ".folded", ".txt" },
	.text = "Folded stacks, as below; also where there is no ending.\n"
		"One view, no time, no process numbers.",
	.next = "weft report",
	.write = folded_write,
};
