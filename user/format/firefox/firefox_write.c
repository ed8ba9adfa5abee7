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
#include <inttypes.h>
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
	uint32_t *group;       /* by thread of the reading */
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
	const struct reading *r = s->f->r;
	size_t n = r->threads.n;

	s->ranked = calloc(n + 1, sizeof(*s->ranked));
	s->group = calloc(n + 1, sizeof(*s->group));
	if (!s->ranked || !s->group)
		return fail(-ENOMEM, "no memory for %zu threads", n);
	for (uint32_t i = 0; i < n; i++)
		s->ranked[i].thread = i;
	for (size_t i = 0; i < r->timeline.uses.n; i++)
		s->ranked[r->timeline.uses.items[i].b].sum += r->timeline.counts.items[i];
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

/* Every sample of the log, or every use where they are too many or undated. */
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
	for (size_t i = 0; !by_second && i < timeline->uses.n; i++) {
		struct pair use = timeline->uses.items[i];

		sample = (struct timeline_sample){ .stack = use.a,
						   .thread = use.b,
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
	const struct reading *r = s->f->r;

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

static void add_meta(struct firefox *f)
{
	const struct reading *r = f->r;
	const struct reading_run *run = r->runs.n ? &r->runs.items[0] : NULL;
	struct str *out = &f->pen.text;

	str_addf(
		out,
		"{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,"
		"\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		"\"interval\":%.6f,\"startTime\":%.3f,\"product\":\"weft, the %s view\",",
		GECKO_VERSION, PROCESSED_VERSION,
		r->period_ns ? (double)r->period_ns / 1e6 : 1.0,
		run ? (double)run->started_unix_ns / 1e6 : 0.0,
		f->view == VIEW_ASYNC ? "async" : "thread");
	str_add(out, "\"oscpu\":");
	str_add_json(out, run ? reading_string(r, run->kernel) : "");
	str_add(out, ",\"abi\":");
	str_add_json(out, run ? reading_string(r, run->arch) : "");
	str_add(out,
		",\"platform\":\"Linux\",\"toolkit\":\"\",\"extensions\":{\"length\":0,"
		"\"baseURL\":[],\"id\":[],\"name\":[]},\"markerSchema\":[],"
		"\"usesOnlyOneStackType\":true,"
		"\"doesNotUseFrameImplementation\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
		"\"threadCPUDelta\":\"ns\"},\n\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Program\",\"color\":\"yellow\","
		"\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"blue\","
		"\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Generated code\",\"color\":\"magenta\","
		"\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Async boundary\",\"color\":\"purple\","
		"\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Inlined\",\"color\":\"lightblue\","
		"\"subcategories\":[\"Other\"]}]},\n\"libs\":[],\"threads\":[");
}

static int write_all(struct sorter *s)
{
	struct firefox *f = s->f;
	size_t from = 0;
	int err = 0;

	add_meta(f);
	for (size_t i = 0; !err && i < s->n_groups; i++) {
		/* place_sample() has moved it to its end */
		size_t n = s->first[i] - from;

		if (i)
			str_add(&f->pen.text, ",\n");
		err = firefox_add_thread(f, i < THREADS_SHOWN ? s->ranked[i].thread : 0,
					 s->samples + from, n);
		from += n;
	}
	str_add(&f->pen.text, "]}\n");
	return err ? err : pen_close(&f->pen);
}

static int firefox_write(struct outfile *out, const struct reading *reading,
			 const struct writer_options *options)
{
	struct firefox f = { .r = reading, .view = options->view, .pen.out = out };
	struct sorter s = { .f = &f };
	int err;

	f.by_frame = calloc(reading->frames.n + 1, sizeof(*f.by_frame));
	err = f.by_frame ? rank(&s) : fail(-ENOMEM, "no memory for frames");
	if (!err)
		err = sort(&s);
	if (!err)
		err = write_all(&s);
	pen_free(&f.pen);
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
	.text = "The Firefox Profiler's form: threads in time, by the second, and a\n"
		"colour for each kind of frame.\n"
		"One view, no losses.",
	.write = firefox_write,
};
