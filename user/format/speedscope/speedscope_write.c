// SPDX-License-Identifier: BSD-2-Clause
/*
 * speedscope's own JSON: one profile a view. Samples stand in order of time, in
 * steps of a second or as many as keep it small, since that is what speedscope
 * shows first; stacks that look alike are one in a step. It has no place for
 * kinds of frames, threads' numbers or losses.
 */
#include "format/output_buffer.h"
#include "format/writer.h"

#include "base/error.h"
#include "base/json.h"
#include "format/time_buckets.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct profile *r;
	const struct writer_options *options;
	struct pairs frames; /* a = string of the profile, b = module */
	uint32_t *by_node;   /* frame's number, by node */
	uint32_t *by_comm;   /* by string */
	VEC(uint32_t) path;  /* of the stack at hand, leaf first */
	struct time_buckets views[2];
	struct output_buffer buffer;
	struct json json; /* onto pen's text */
};

static bool shows(const struct speedscope *s, enum view view)
{
	return !s->r->one_view || view == s->options->view;
}

/* Marks have no string of the profile: they count down from its largest. */
static struct pair frame_key(const struct profile *r, uint32_t code)
{
	if (!PROFILE_IS_FRAME(code))
		return (struct pair){ UINT32_MAX - (PROFILE_MARK(code) >> 28), 0 };
	return (struct pair){ r->frames.items[code].name, r->frames.items[code].module };
}

static const char *frame_name(const struct profile *r, struct pair key)
{
	if (key.a >= UINT32_MAX - 15)
		return profile_code_name(r, (UINT32_MAX - key.a) << 28);
	return key.a ? profile_string(r, key.a) : "[no name]";
}

static int number_path(struct speedscope *s, uint32_t node)
{
	int err = 0;

	for (; !err && node && s->by_node[node] == UINT32_MAX;
	     node = profile_parent(s->r, node))
		err = pairs_id(&s->frames, frame_key(s->r, profile_code(s->r, node)),
			       UINT32_MAX, &s->by_node[node]);
	return err;
}

/* Only what some sample holds. */
static int number_frames(struct speedscope *s, const struct time_buckets *time_buckets)
{
	int err = 0;

	for (size_t i = 0; !err && i < time_buckets->ends.n; i++) {
		struct pair end = time_buckets->ends.items[i];

		if (!time_buckets->sums.items[i])
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
			json_text(&s->json, "file", profile_string(s->r, path));
		json_close(&s->json, '}');
		err = output_buffer_drain(&s->buffer);
	}
	return err;
}

static int add_stack(struct speedscope *s, struct pair end)
{
	int err = 0;

	s->path.n = 0;
	for (uint32_t node = end.a; !err && node; node = profile_parent(s->r, node))
		err = vec_push(&s->path, s->by_node[node]);
	json_open(&s->json, NULL, '[');
	json_uint(&s->json, NULL, s->by_comm[end.b]);
	while (!err && s->path.n)
		json_uint(&s->json, NULL, s->path.items[--s->path.n]);
	json_close(&s->json, ']');
	return err ? err : output_buffer_drain(&s->buffer);
}

static uint64_t weight(const struct speedscope *s)
{
	return profile_period_ns(s->r) ? profile_period_ns(s->r) : 1;
}

static int add_view(struct speedscope *s, enum view view)
{
	const struct time_buckets *time_buckets = &s->views[view];
	struct json *json = &s->json;
	int err = 0;

	if (json->has_item)
		json_line(json);
	json_open(json, NULL, '{');
	json_text(json, "type", "sampled");
	json_text(json, "name", view == VIEW_ASYNC ? "async view" : "thread view");
	json_text(json, "unit", profile_period_ns(s->r) ? "nanoseconds" : "none");
	json_uint(json, "startValue", 0);
	json_uint(json, "endValue", s->r->timeline.total * weight(s));
	json_open(json, "samples", '[');
	for (size_t i = 0; !err && i < time_buckets->items.n; i++) {
		json_line(json);
		err = add_stack(
			s, time_buckets->ends.items[time_buckets->items.items[i].end]);
	}
	json_close(json, ']');
	json_line(json);
	json_open(json, "weights", '[');
	for (size_t i = 0; !err && i < time_buckets->items.n; i++) {
		json_uint(json, NULL, time_buckets->items.items[i].count * weight(s));
		err = output_buffer_drain(&s->buffer);
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
	str_add_char(&s->buffer.text, '\n');
	return err ? err : output_buffer_close(&s->buffer);
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
		err = time_buckets_fill(&s->views[view], s->r, (enum view)view);
		if (!err)
			err = number_frames(s, &s->views[view]);
	}
	return err;
}

static int speedscope_write(struct outfile *out, const struct profile *profile,
			    const struct writer_options *options)
{
	struct speedscope s = { .r = profile, .options = options, .buffer.out = out };
	int err = prepare(&s);

	s.json.out = &s.buffer.text;
	if (!err)
		err = add_all(&s);
	output_buffer_free(&s.buffer);
	time_buckets_free(&s.views[VIEW_ASYNC]);
	time_buckets_free(&s.views[VIEW_THREAD]);
	pairs_free(&s.frames);
	vec_free(&s.path);
	free(s.by_node);
	free(s.by_comm);
	return err;
}

const struct writer speedscope_writer = {
	.name = "speedscope",
	.endings = { ".speedscope.json" },
	.text = "The format of speedscope.\n"
		"Holds both views, ordered by time in steps of a second (longer steps\n"
		"in long recordings).\n"
		"Holds no kinds of frames, processes or losses.",
	.write = speedscope_write,
};
