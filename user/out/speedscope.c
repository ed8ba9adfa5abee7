// SPDX-License-Identifier: BSD-2-Clause
/*
 * speedscope's own JSON: one profile a view, the wanted one in front. Stacks that
 * look alike are one sample with a weight; it has no place for kinds, threads'
 * numbers or losses, but for the latter in its name.
 */
#include "out/writer.h"

#include "base/error.h"
#include "core/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct reading *r;
	const struct writer_options *options;
	struct tree *trees[2]; /* by view; NULL: it is not shown */
	struct pen pen;
};

static int add_frames(struct speedscope *s)
{
	bool any = false;
	int err = 0;

	for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++) {
		const struct tree *tree = s->trees[view];

		for (uint32_t i = 0; tree && !err && i < tree->labels.n; i++) {
			const struct reading_module *module =
				&s->r->modules.items[tree->labels.items[i].module];

			str_add(&s->pen.text, any ? ",\n{\"name\":" : "\n{\"name\":");
			str_add_json(&s->pen.text, intern_string(tree->texts, i));
			if (module->path) {
				str_add(&s->pen.text, ",\"file\":");
				str_add_json(&s->pen.text,
					     reading_string(s->r, module->path));
			}
			str_add_char(&s->pen.text, '}');
			any = true;
			err = pen_pass(&s->pen);
		}
	}
	return err;
}

/* Frames of the second view follow those of the first. */
static uint32_t frame_number(const struct speedscope *s, enum view view, uint32_t node)
{
	const struct tree *before = view == VIEW_THREAD ? s->trees[VIEW_ASYNC] : NULL;

	return s->trees[view]->nodes.items[node].b +
	       (before ? (uint32_t)before->labels.n : 0);
}

static int add_stack(struct speedscope *s, enum view view, uint32_t leaf)
{
	const struct tree *tree = s->trees[view];
	VEC(uint32_t) frames = { 0 };
	int err = 0;

	for (uint32_t node = leaf; !err && node; node = tree->nodes.items[node].a)
		err = vec_push(&frames, frame_number(s, view, node));
	str_add_char(&s->pen.text, '[');
	while (frames.n--)
		str_addf(&s->pen.text, "%u%s", frames.items[frames.n],
			 frames.n ? "," : "");
	str_add_char(&s->pen.text, ']');
	free(frames.items);
	return err ? err : pen_pass(&s->pen);
}

static uint64_t weight(const struct speedscope *s)
{
	return s->r->period_ns ? s->r->period_ns : 1;
}

static int add_view(struct speedscope *s, enum view view)
{
	const struct tree *tree = s->trees[view];
	struct str *out = &s->pen.text;
	bool any = false;
	int err = 0;

	str_addf(out, "{\"type\":\"sampled\",\"name\":\"%s view\",\"unit\":\"%s\",",
		 view == VIEW_ASYNC ? "async" : "thread",
		 s->r->period_ns ? "nanoseconds" : "none");
	str_addf(out, "\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		 tree->total.items[0] * weight(s));
	for (uint32_t i = 1; !err && i < tree->nodes.n; i++) {
		if (!tree->self.items[i])
			continue;
		str_add(out, any ? ",\n" : "\n");
		err = add_stack(s, view, i);
		any = true;
	}
	str_add(out, "],\n\"weights\":[");
	any = false;
	for (uint32_t i = 1; !err && i < tree->nodes.n; i++) {
		if (!tree->self.items[i])
			continue;
		str_addf(out, "%s%" PRIu64, any ? "," : "",
			 tree->self.items[i] * weight(s));
		any = true;
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
		 s->trees[VIEW_ASYNC] && s->options->view == VIEW_THREAD);
	err = add_frames(s);
	str_add(out, "]},\n\"profiles\":[");
	for (int view = VIEW_ASYNC; !err && view <= VIEW_THREAD; view++) {
		if (!s->trees[view])
			continue;
		if (view == VIEW_THREAD && s->trees[VIEW_ASYNC])
			str_add(out, ",\n");
		err = add_view(s, (enum view)view);
	}
	str_add(out, "]}\n");
	return err ? err : pen_close(&s->pen);
}

static int speedscope_write(struct outfile *out, const struct reading *reading,
			    const struct writer_options *options)
{
	struct speedscope s = { .r = reading, .options = options, .pen.out = out };
	int err = 0;

	for (int view = VIEW_ASYNC; !err && view <= VIEW_THREAD; view++) {
		const struct tree_options how = { .view = (enum view)view };

		if (!reading->one_view || view == (int)options->view)
			err = tree_new(&s.trees[view], reading, &how);
	}
	if (!err)
		err = add_all(&s);
	pen_free(&s.pen);
	tree_free(s.trees[VIEW_ASYNC]);
	tree_free(s.trees[VIEW_THREAD]);
	return err;
}

const struct writer speedscope_writer = {
	.name = "speedscope",
	.endings = { ".speedscope.json" },
	.text = "speedscope's JSON, both views",
	.write = speedscope_write,
};
