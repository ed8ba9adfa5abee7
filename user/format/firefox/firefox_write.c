// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Firefox Profiler's processed format: threads on a line of time, a category
 * with a colour for each kind of frame. One view. Samples stand in their second,
 * spread over it; the threads with most samples stand alone, the rest are one.
 * Where a recording has too many samples to sort, each stack stands once.
 */
#include "format/firefox/firefox_parts.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_SHOWN 300
#define SORTED_MAX    (8u << 20)

/* Of the format; a reader of a later one brings ours up to it. */
#define GECKO_VERSION	  27
#define PROCESSED_VERSION 49

struct ranked {
	uint32_t thread;
	uint64_t sum;
};

struct sorter {
	struct firefox *f;
	uint32_t *group;       /* by thread of the profile */
	struct ranked *ranked; /* the largest first */
	size_t n_groups;       /* group n_groups - 1 may be the rest */
	size_t *first;	       /* by group, in samples */
	struct firefox_sample *samples;
};

static int by_sum(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int rank(struct sorter *s)
{
	const struct profile *r = s->f->r;
	size_t n = r->threads.n;

	s->ranked = calloc(n + 1, sizeof(*s->ranked));
	s->group = calloc(n + 1, sizeof(*s->group));
	if (!s->ranked || !s->group)
		return fail(-ENOMEM, "no memory for %zu threads", n);
	for (uint32_t i = 0; i < n; i++)
		s->ranked[i].thread = i;
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++)
		s->ranked[r->timeline.sample_keys.items[i].b].sum +=
			r->timeline.counts.items[i];
	qsort(s->ranked, n, sizeof(*s->ranked), by_sum);
	while (s->n_groups < n && s->ranked[s->n_groups].sum &&
	       s->n_groups < THREADS_SHOWN)
		s->n_groups++;
	for (size_t i = 0; i < n; i++)
		s->group[s->ranked[i].thread] =
			(uint32_t)(i < THREADS_SHOWN ? i : THREADS_SHOWN);
	if (s->n_groups == THREADS_SHOWN)
		s->n_groups++; /* the rest */
	return 0;
}

/* Every sample of the log, or every sample key where they are too many or undated. */
static int each_sample(struct sorter *s, bool by_second,
		       void (*take)(struct sorter *s, const struct timeline_sample *t))
{
	const struct timeline *timeline = &s->f->r->timeline;
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;

	while (by_second && timeline_next(timeline, &at, &sample)) {
		sample.second -= timeline->first;
		take(s, &sample);
	}
	for (size_t i = 0; !by_second && i < timeline->sample_keys.n; i++) {
		struct pair sample_key = timeline->sample_keys.items[i];

		sample = (struct timeline_sample){ .stack = sample_key.a,
						   .thread = sample_key.b,
						   .count = timeline->counts.items[i] };
		if (sample.count)
			take(s, &sample);
	}
	return 0;
}

static void count_sample(struct sorter *s, const struct timeline_sample *sample)
{
	s->first[s->group[sample->thread] + 1]++;
}

/* first[] moves on to where the next one goes, and is the following one's after. */
static void place_sample(struct sorter *s, const struct timeline_sample *sample)
{
	const struct profile *r = s->f->r;

	s->samples[s->first[s->group[sample->thread]]++] = (struct firefox_sample){
		.second = sample->second,
		.node = r->stacks.items[sample->stack].node[s->f->view],
		.count =
			sample->count > UINT32_MAX ? UINT32_MAX : (uint32_t)sample->count,
	};
}

static bool fits(const struct timeline *timeline)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	size_t n = 0;

	if (timeline->undated)
		return false;
	while (n <= SORTED_MAX && timeline_next(timeline, &at, &sample))
		n++;
	return n <= SORTED_MAX;
}

static int sort(struct sorter *s)
{
	bool by_second = fits(&s->f->r->timeline);

	s->first = calloc(s->n_groups + 2, sizeof(*s->first));
	if (!s->first)
		return fail(-ENOMEM, "no memory to sort");
	each_sample(s, by_second, count_sample);
	for (size_t i = 0; i < s->n_groups; i++)
		s->first[i + 1] += s->first[i];
	s->samples = calloc(s->first[s->n_groups] + 1, sizeof(*s->samples));
	if (!s->samples)
		return fail(-ENOMEM, "no memory to sort");
	return each_sample(s, by_second, place_sample);
}

static void add_empty(struct json *json, const char *key)
{
	json_open(json, key, '[');
	json_close(json, ']');
}

static void add_extensions(struct json *json)
{
	json_open(json, "extensions", '{');
	json_uint(json, "length", 0);
	add_empty(json, "baseURL");
	add_empty(json, "id");
	add_empty(json, "name");
	json_close(json, '}');
}

static void add_units(struct json *json)
{
	json_open(json, "sampleUnits", '{');
	json_text(json, "time", "ms");
	json_text(json, "eventDelay", "ms");
	json_text(json, "threadCPUDelta", "ns");
	json_close(json, '}');
}

static void add_categories(struct json *json)
{
	static const char *const categories[][2] = {
		[CATEGORY_OTHER] = { "Other", "grey" },
		[CATEGORY_PROGRAM] = { "Program", "yellow" },
		[CATEGORY_KERNEL] = { "Kernel", "blue" },
		[CATEGORY_JIT] = { "Generated code", "magenta" },
		[CATEGORY_ASYNC] = { "Boundary", "purple" },
		[CATEGORY_INLINED] = { "Inlined", "lightblue" },
	};

	json_open(json, "categories", '[');
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", categories[i][0]);
		json_text(json, "color", categories[i][1]);
		json_open(json, "subcategories", '[');
		json_text(json, NULL, "Other");
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void add_run(struct json *json, const struct profile *r, enum view view)
{
	const struct profile_run *run = r->runs.n ? &r->runs.items[0] : NULL;

	json_addf(json, "startTime", "%.3f",
		  run ? (double)run->started_unix_ns / 1e6 : 0.0);
	json_text(json, "product",
		  view == VIEW_ASYNC ? "weft, the async view" : "weft, the thread view");
	json_text(json, "oscpu", run ? profile_string(r, run->kernel) : "");
	json_text(json, "abi", run ? profile_string(r, run->arch) : "");
}

static void add_meta(struct firefox *f)
{
	const struct profile *r = f->r;
	struct json *json = &f->json;

	json_open(json, "meta", '{');
	json_uint(json, "version", GECKO_VERSION);
	json_uint(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_uint(json, "processType", 0);
	json_uint(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_bool(json, "symbolicated", true);
	json_addf(json, "interval", "%.6f",
		  profile_period_ns(r) ? (double)profile_period_ns(r) / 1e6 : 1.0);
	add_run(json, r, f->view);
	json_text(json, "platform", "Linux");
	json_text(json, "toolkit", "");
	add_extensions(json);
	add_empty(json, "markerSchema");
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "doesNotUseFrameImplementation", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	add_units(json);
	json_line(json);
	add_categories(json);
	json_close(json, '}');
}

static int write_all(struct sorter *s)
{
	struct firefox *f = s->f;
	size_t from = 0;
	int err = 0;

	json_open(&f->json, NULL, '{');
	add_meta(f);
	json_line(&f->json);
	add_empty(&f->json, "libs");
	json_open(&f->json, "threads", '[');
	for (size_t i = 0; !err && i < s->n_groups; i++) {
		/* place_sample() has moved it to its end */
		size_t n = s->first[i] - from;

		if (i)
			json_line(&f->json);
		err = firefox_add_thread(f, i < THREADS_SHOWN ? s->ranked[i].thread : 0,
					 s->samples + from, n);
		from += n;
	}
	json_close(&f->json, ']');
	json_close(&f->json, '}');
	str_add_char(&f->buffer.text, '\n');
	return err ? err : output_buffer_close(&f->buffer);
}

static int firefox_write(struct outfile *out, const struct profile *profile,
			 const struct writer_options *options)
{
	struct firefox f = { .r = profile, .view = options->view, .buffer.out = out };
	struct sorter s = { .f = &f };
	int err;

	f.json.out = &f.buffer.text;
	f.by_frame = calloc(profile->frames.n + 1, sizeof(*f.by_frame));
	err = f.by_frame ? rank(&s) : fail(-ENOMEM, "no memory for frames");
	if (!err)
		err = sort(&s);
	if (!err)
		err = write_all(&s);
	output_buffer_free(&f.buffer);
	pairs_free(&f.keys);
	vec_free(&f.functions);
	free(f.by_frame);
	free(s.group);
	free(s.ranked);
	free(s.first);
	free(s.samples);
	return err;
}

const struct writer firefox_writer = {
	.name = "firefox",
	.endings = { ".json", ".firefox.json" },
	.text = "The format of the Firefox Profiler: threads over time, in steps of a\n"
		"second, and a colour for each kind of frame.\n"
		"Holds one view and no losses.",
	.write = firefox_write,
};
