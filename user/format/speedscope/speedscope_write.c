// SPDX-License-Identifier: BSD-2-Clause
/*
 * speedscope's own JSON: one profile a view. Samples stand in order of time, in
 * steps of a second or as many as keep it small, since that is what speedscope
 * shows first; stacks that look alike are one in a step. It has no place for
 * kinds of frames, threads' numbers or losses.
 */
#include "format/pen.h"
#include "format/writer.h"

#include "base/error.h"
#include "base/json.h"
#include "format/moments.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct reading *r;
	const struct writer_options *options;
	struct pairs frames; /* a = string of the reading, b = module */
	uint32_t *by_node;   /* frame's number, by node */
	uint32_t *by_comm;   /* by string */
	VEC(uint32_t) path;  /* of the stack at hand, leaf first */
	struct moments views[2];
	struct pen pen;
	struct json json; /* onto pen's text */
};

static bool shows(const struct speedscope *s, enum view view)
{
	return !s->r->one_view || view == s->options->view;
}

/* Marks have no string of the reading: they count down from its largest. */
static struct pair frame_key(const struct reading *r, uint32_t code)
{
	if (!READING_IS_FRAME(code))
		return (struct pair){ UINT32_MAX - (READING_MARK(code) >> 28), 0 };
	return (struct pair){ r->frames.items[code].name, r->frames.items[code].module };
}

static const char *frame_name(const struct reading *r, struct pair key)
{
	if (key.a >= UINT32_MAX - 15)
		return reading_code_name(r, (UINT32_MAX - key.a) << 28);
	return key.a ? reading_string(r, key.a) : "[no name]";
}

static int number_path(struct speedscope *s, uint32_t node)
{
	int err = 0;

	for (; !err && node && s->by_node[node] == UINT32_MAX;
	     node = reading_parent(s->r, node))
		err = pairs_id(&s->frames, frame_key(s->r, reading_code(s->r, node)),
			       UINT32_MAX, &s->by_node[node]);
	return err;
}

/* Only what some sample holds. */
static int number_frames(struct speedscope *s, const struct moments *moments)
{
	int err = 0;

	for (size_t i = 0; !err && i < moments->ends.n; i++) {
		struct pair end = moments->ends.items[i];

		if (!moments->sums.items[i])
			continue;
		err = pairs_id(&s->frames, (struct pair){ end.b, 0 }, UINT32_MAX,
			       &s->by_comm[end.b]);
		if (!err)
			err = number_path(s, end.a);
	}
	return err;
}

static int add_frames(struct speedscope *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->frames.n; i++) {
		struct pair key = s->frames.items[i];
		uint32_t path = s->r->modules.items[key.b].path;

		json_line(&s->json);
		json_open(&s->json, NULL, '{');
		json_text(&s->json, "name", frame_name(s->r, key));
		if (path)
			json_text(&s->json, "file", reading_string(s->r, path));
		json_close(&s->json, '}');
		err = pen_pass(&s->pen);
	}
	return err;
}

static int add_stack(struct speedscope *s, struct pair end)
{
	int err = 0;

	s->path.n = 0;
	for (uint32_t node = end.a; !err && node; node = reading_parent(s->r, node))
		err = vec_push(&s->path, s->by_node[node]);
	json_open(&s->json, NULL, '[');
	json_uint(&s->json, NULL, s->by_comm[end.b]);
	while (!err && s->path.n)
		json_uint(&s->json, NULL, s->path.items[--s->path.n]);
	json_close(&s->json, ']');
	return err ? err : pen_pass(&s->pen);
}

static uint64_t weight(const struct speedscope *s)
{
	return s->r->period_ns ? s->r->period_ns : 1;
}

static int add_view(struct speedscope *s, enum view view)
{
	const struct moments *moments = &s->views[view];
	struct json *json = &s->json;
	int err = 0;

	if (json->has_item)
		json_line(json);
	json_open(json, NULL, '{');
	json_text(json, "type", "sampled");
	json_text(json, "name", view == VIEW_ASYNC ? "async view" : "thread view");
	json_text(json, "unit", s->r->period_ns ? "nanoseconds" : "none");
	json_uint(json, "startValue", 0);
	json_uint(json, "endValue", s->r->timeline.total * weight(s));
	json_open(json, "samples", '[');
	for (size_t i = 0; !err && i < moments->items.n; i++) {
		json_line(json);
		err = add_stack(s, moments->ends.items[moments->items.items[i].end]);
	}
	json_close(json, ']');
	json_line(json);
	json_open(json, "weights", '[');
	for (size_t i = 0; !err && i < moments->items.n; i++) {
		json_uint(json, NULL, moments->items.items[i].count * weight(s));
		err = pen_pass(&s->pen);
	}
	json_close(json, ']');
	json_close(json, '}');
	return err;
}

static int add_all(struct speedscope *s)
{
	struct json *json = &s->json;
	int err;

	json_open(json, NULL, '{');
	json_text(json, "$schema", SCHEMA);
	json_line(json);
	json_text(json, "exporter", "weft " WEFT_VERSION);
	json_text(json, "name", s->options->title ? s->options->title : "weft");
	json_uint(json, "activeProfileIndex",
		  shows(s, VIEW_ASYNC) && s->options->view == VIEW_THREAD);
	json_line(json);
	json_open(json, "shared", '{');
	json_open(json, "frames", '[');
	err = add_frames(s);
	json_close(json, ']');
	json_close(json, '}');
	json_line(json);
	json_open(json, "profiles", '[');
	for (int view = VIEW_ASYNC; !err && view <= VIEW_THREAD; view++)
		if (shows(s, (enum view)view))
			err = add_view(s, (enum view)view);
	json_close(json, ']');
	json_close(json, '}');
	str_add_char(&s->pen.text, '\n');
	return err ? err : pen_close(&s->pen);
}

static int prepare(struct speedscope *s)
{
	size_t n_strings = intern_count(s->r->strings);
	int err = 0;

	s->by_node = malloc(s->r->nodes.n * sizeof(*s->by_node));
	s->by_comm = calloc(n_strings, sizeof(*s->by_comm));
	if (!s->by_node || !s->by_comm)
		return fail(-ENOMEM, "no memory for %zu nodes", s->r->nodes.n);
	memset(s->by_node, 0xff, s->r->nodes.n * sizeof(*s->by_node));
	for (int view = VIEW_ASYNC; !err && view <= VIEW_THREAD; view++) {
		if (!shows(s, (enum view)view))
			continue;
		err = moments_find(&s->views[view], s->r, (enum view)view);
		if (!err)
			err = number_frames(s, &s->views[view]);
	}
	return err;
}

static int speedscope_write(struct outfile *out, const struct reading *reading,
			    const struct writer_options *options)
{
	struct speedscope s = { .r = reading, .options = options, .pen.out = out };
	int err = prepare(&s);

	s.json.out = &s.pen.text;
	if (!err)
		err = add_all(&s);
	pen_free(&s.pen);
	moments_free(&s.views[VIEW_ASYNC]);
	moments_free(&s.views[VIEW_THREAD]);
	pairs_free(&s.frames);
	vec_free(&s.path);
	free(s.by_node);
	free(s.by_comm);
	return err;
}

const struct writer speedscope_writer = {
	.name = "speedscope",
	.endings = { ".speedscope.json" },
	.text = "speedscope's form, both views, in order of time by the second (of\n"
		"long recordings by more).\n"
		"No kinds of frames, processes or losses.",
	.write = speedscope_write,
};
