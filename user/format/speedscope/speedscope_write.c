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
#include "format/moments.h"

#include <errno.h>
#include <inttypes.h>
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
	bool any;
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

		str_add(&s->pen.text, i ? ",\n{\"name\":" : "\n{\"name\":");
		str_add_json(&s->pen.text, frame_name(s->r, key));
		if (path) {
			str_add(&s->pen.text, ",\"file\":");
			str_add_json(&s->pen.text, reading_string(s->r, path));
		}
		str_add_char(&s->pen.text, '}');
		err = pen_pass(&s->pen);
	}
	return err;
}

static int add_stack(struct speedscope *s, struct pair end)
{
	struct str *out = &s->pen.text;
	int err = 0;

	s->path.n = 0;
	for (uint32_t node = end.a; !err && node; node = reading_parent(s->r, node))
		err = vec_push(&s->path, s->by_node[node]);
	str_addf(out, "[%u", s->by_comm[end.b]);
	while (!err && s->path.n)
		str_addf(out, ",%u", s->path.items[--s->path.n]);
	str_add_char(out, ']');
	return err ? err : pen_pass(&s->pen);
}

static uint64_t weight(const struct speedscope *s)
{
	return s->r->period_ns ? s->r->period_ns : 1;
}

static int add_view(struct speedscope *s, enum view view)
{
	const struct moments *moments = &s->views[view];
	struct str *out = &s->pen.text;
	int err = 0;

	str_addf(out, "%s{\"type\":\"sampled\",\"name\":\"%s view\",\"unit\":\"%s\",",
		 s->any ? ",\n" : "", view == VIEW_ASYNC ? "async" : "thread",
		 s->r->period_ns ? "nanoseconds" : "none");
	str_addf(out, "\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		 s->r->timeline.total * weight(s));
	s->any = true;
	for (size_t i = 0; !err && i < moments->items.n; i++) {
		str_add(out, i ? ",\n" : "\n");
		err = add_stack(s, moments->ends.items[moments->items.items[i].end]);
	}
	str_add(out, "],\n\"weights\":[");
	for (size_t i = 0; !err && i < moments->items.n; i++) {
		str_addf(out, "%s%" PRIu64, i ? "," : "",
			 moments->items.items[i].count * weight(s));
		err = pen_pass(&s->pen);
	}
	str_add(out, "]}");
	return err;
}

static int add_all(struct speedscope *s)
{
	struct str *out = &s->pen.text;
	int err;

	str_add(out, "{\"$schema\":\"" SCHEMA "\",\n\"exporter\":\"weft " WEFT_VERSION
		     "\",\"name\":");
	str_add_json(out, s->options->title ? s->options->title : "weft");
	str_addf(out, ",\"activeProfileIndex\":%d,\n\"shared\":{\"frames\":[",
		 shows(s, VIEW_ASYNC) && s->options->view == VIEW_THREAD);
	err = add_frames(s);
	str_add(out, "]},\n\"profiles\":[");
	for (int view = VIEW_ASYNC; !err && view <= VIEW_THREAD; view++)
		if (shows(s, (enum view)view))
			err = add_view(s, (enum view)view);
	str_add(out, "]}\n");
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
