// SPDX-License-Identifier: BSD-2-Clause
/*
 * A flame graph as a print, and it says so: no script, a tooltip a box, colours by kind
 * that are told apart without red and green, and a legend. One view; what is narrower
 * than a third of a pixel is left out.
 */
#include "format/output_buffer.h"
#include "format/writer.h"

#include "base/error.h"
#include "core/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define WIDTH	    1200.0
#define MARGIN	    10.0
#define ROW	    16
#define HEAD	    44
#define FOOT	    34
#define TEXT_WIDTH  6.6 /* of a character of 11 px, on average */
#define NARROWEST   0.33
#define DEPTH_SHOWN 600

struct box {
	uint32_t node;
	unsigned int depth;
	double x;
};

struct picture {
	const struct profile *r;
	const struct writer_options *options;
	const struct tree *tree;
	struct output_buffer buffer;
	unsigned int deepest;
	double scale; /* pixels a count */
	VEC(struct box) open;
};

/* In the page's words (page/colours.js). Okabe and Ito's palette, lightened so that black
 * text is read on it. */
static const struct {
	const char *name, *colour;
} kinds[] = {
	[TREE_GROUP] = { "thread", "#cfcfcf" },
	[TREE_MARK] = { "boundary, missing frames", "#f5e27a" },
	[TREE_UNKNOWN] = { "not known", "#dddddd" },
	[TREE_NATIVE] = { "native", "#f0b65c" },
	[TREE_KERNEL] = { "kernel", "#8fc7ea" },
	[TREE_JIT] = { "generated (JIT)", "#dba6c4" },
	[TREE_INLINED] = { "inlined", "#7fd1b5" },
};

static void add_xml(struct str *out, const char *s, size_t most)
{
	size_t n = 0;

	for (; *s; s++) {
		n += ((unsigned char)*s & 0xc0) != 0x80; /* characters, not bytes */
		if (n > most)
			break;
		switch (*s) {
		case '<':
			str_add(out, "&lt;");
			break;
		case '>':
			str_add(out, "&gt;");
			break;
		case '&':
			str_add(out, "&amp;");
			break;
		case '"':
			str_add(out, "&quot;");
			break;
		default:
			str_add_char(out, *s);
			break;
		}
	}
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void add_label(struct str *out, const char *text, double x, double y, double width)
{
	size_t room = width > 6 ? (size_t)((width - 6) / TEXT_WIDTH) : 0;
	size_t n = characters(text);

	if (room < 3)
		return;
	str_addf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 11.5);
	add_xml(out, text, n <= room ? n : room - 1);
	str_add(out, n <= room ? "</text>" : "…</text>");
}

static void add_box(struct picture *p, const struct box *box)
{
	struct str *out = &p->buffer.text;
	uint64_t total = p->tree->total.items[box->node];
	double width = (double)total * p->scale;
	double y = HEAD + (double)(p->deepest - box->depth) * ROW;
	const char *text = box->node ? tree_text(p->tree, box->node) : "all";
	uint32_t kind = box->node ? tree_label(p->tree, box->node)->kind : TREE_GROUP;

	str_add(out, "<g><title>");
	add_xml(out, text, SIZE_MAX);
	str_addf(out, " (%" PRIu64 " %s, %.2f%%)</title>", total,
		 profile_string(p->r, p->r->value_type),
		 100.0 * (double)total / (double)p->tree->total.items[0]);
	str_addf(out,
		 "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
		 "fill=\"%s\"/>",
		 box->x, y, width > NARROWEST ? width : NARROWEST, ROW - 1,
		 kinds[kind].colour);
	add_label(out, text, box->x, y, width);
	str_add(out, "</g>\n");
}

static bool is_shown(const struct picture *p, uint32_t node, unsigned int depth)
{
	return (double)p->tree->total.items[node] * p->scale >= NARROWEST &&
	       depth < DEPTH_SHOWN;
}

/* What to do with each box that is shown, parents first. */
static int walk(struct picture *p, int (*each)(struct picture *p, const struct box *box))
{
	const struct tree *tree = p->tree;
	int err = vec_push(&p->open, (struct box){ 0, 0, MARGIN });

	while (!err && p->open.n) {
		struct box box = p->open.items[--p->open.n];
		double x = box.x;

		err = each(p, &box);
		for (uint32_t i = tree->first[box.node];
		     !err && i < tree->first[box.node + 1]; i++) {
			uint32_t child = tree->order[i];

			if (is_shown(p, child, box.depth + 1))
				err = vec_push(&p->open,
					       (struct box){ child, box.depth + 1, x });
			x += (double)tree->total.items[child] * p->scale;
		}
	}
	p->open.n = 0;
	return err;
}

static int note_depth(struct picture *p, const struct box *box)
{
	if (box->depth > p->deepest)
		p->deepest = box->depth;
	return 0;
}

static int draw(struct picture *p, const struct box *box)
{
	add_box(p, box);
	return output_buffer_drain(&p->buffer);
}

static void add_head(struct picture *p)
{
	struct str *out = &p->buffer.text;
	int height = HEAD + FOOT + (int)(p->deepest + 1) * ROW;

	str_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		 "height=\"%d\" viewBox=\"0 0 %.0f %d\" font-family=\"Verdana, DejaVu "
		 "Sans, sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" "
		 "height=\"100%%\" fill=\"#ffffff\"/>\n",
		 WIDTH, height, WIDTH, height);
	str_addf(out, "<text x=\"%.0f\" y=\"24\" font-size=\"16\">", MARGIN);
	add_xml(out, p->options->title ? p->options->title : "weft", SIZE_MAX);
	str_addf(out, ": %s view, %" PRIu64 " %s</text>\n",
		 p->options->view == VIEW_ASYNC ? "async" : "thread",
		 p->r->timeline.total, profile_string(p->r, p->r->value_type));
	str_addf(out,
		 "<text x=\"%.0f\" y=\"24\" text-anchor=\"end\" fill=\"#555555\">A "
		 "print: an HTML page of the same recording zooms and searches.</text>\n",
		 WIDTH - MARGIN);
}

static void add_legend(struct picture *p)
{
	struct str *out = &p->buffer.text;
	double x = MARGIN, y = HEAD + (double)(p->deepest + 1) * ROW + 10;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		str_addf(out,
			 "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" "
			 "fill=\"%s\"/><text x=\"%.0f\" y=\"%.1f\">%s</text>\n",
			 x, y, kinds[i].colour, x + 16, y + 10, kinds[i].name);
		x += 34 + (double)strlen(kinds[i].name) * TEXT_WIDTH;
	}
	str_add(out, "</svg>\n");
}

static int draw_all(struct picture *p)
{
	uint64_t total = p->tree->total.items[0];
	int err;

	p->scale = total ? (WIDTH - 2 * MARGIN) / (double)total : 0;
	err = walk(p, note_depth);
	if (err)
		return err;
	add_head(p);
	if (total)
		err = walk(p, draw);
	add_legend(p);
	return err ? err : output_buffer_close(&p->buffer);
}

static int svg_write(struct outfile *out, const struct profile *profile,
		     const struct writer_options *options)
{
	const struct tree_options how = { .view = options->view };
	struct picture p = { .r = profile, .options = options, .buffer.out = out };
	AUTO(tree) tree = NULL;
	int err = tree_new(&tree, profile, &how);

	p.tree = tree;
	if (!err)
		err = draw_all(&p);
	output_buffer_free(&p.buffer);
	vec_free(&p.open);
	return err;
}

const struct writer svg_writer = {
	.name = "svg",
	.endings = { ".svg" },
	.text = "A flame graph as an image, without script: a print of one view.\n"
		"For zoom and search, write a page.",
	.write = svg_write,
};
