// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who ran which stack and when. A cell is a second, or more where the recording
 * is so long or so busy that a browser could not hold it: what is in one is
 * added up, and how long it is stands in the page.
 */
#include "out/html.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CELLS_MOST   1200
#define SAMPLES_MOST (3u << 20)

static int write_uses(struct html *h)
{
	int err = 0;

	str_add(&h->pen.text, "\"uses\":[");
	for (size_t i = 0; !err && i < h->uses.n; i++) {
		str_addf(&h->pen.text, "%s%" PRIu32 ",%" PRIu32, i ? "," : "",
			 h->uses.items[i].a, h->uses.items[i].b);
		err = pen_pass(&h->pen);
	}
	str_add(&h->pen.text, "],\n");
	return err;
}

static uint64_t seconds_of(const struct html *h)
{
	const struct timeline *timeline = &h->reading->timeline;

	return timeline->is_dated ? (uint64_t)timeline->last - timeline->first + 1 : 0;
}

/* How many numbers a cell of so many seconds takes; an upper bound where the
 * log is not in order. */
static int count_samples(const struct html *h, uint64_t cell_s, size_t *ret)
{
	const struct timeline *timeline = &h->reading->timeline;
	AUTO_FREE uint32_t *last = calloc(h->uses.n + 1, sizeof(*last));
	struct timeline_cursor cursor = { 0 };
	struct timeline_sample sample;

	*ret = 0;
	if (!last)
		return fail(-ENOMEM, "no memory for a page of %zu uses", h->uses.n);
	while (timeline_next(timeline, &cursor, &sample)) {
		uint32_t cell =
			(uint32_t)((sample.second - timeline->first) / cell_s) + 1;
		uint32_t use = h->use_of[sample.use];

		if (use == HTML_UNUSED || last[use] == cell)
			continue;
		last[use] = cell;
		++*ret;
	}
	return 0;
}

/* 1, 2, 5, 10, 30, 60 … seconds, then twice as many each time. */
static uint64_t longer(uint64_t cell_s)
{
	static const uint32_t steps[] = {
		1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i] > cell_s)
			return steps[i];
	return cell_s * 2;
}

static int choose_cell(struct html *h)
{
	uint64_t seconds = seconds_of(h);
	size_t n = 0;
	int err;

	h->cell_s = 1;
	while (seconds / h->cell_s >= CELLS_MOST)
		h->cell_s = longer(h->cell_s);
	err = count_samples(h, h->cell_s, &n);
	while (!err && n > SAMPLES_MOST && h->cell_s < seconds) {
		h->cell_s = longer(h->cell_s);
		err = count_samples(h, h->cell_s, &n);
	}
	return err;
}

static int by_use(const void *a, const void *b)
{
	const struct html_sample *x = a, *y = b;

	return x->use < y->use ? -1 : x->use > y->use;
}

/* Writes the samples at hand, which are of one cell, and forgets them. */
static int write_cell(struct html *h, bool *is_first)
{
	struct html_sample *samples = h->samples.items;
	size_t n = h->samples.n;
	uint32_t last = 0;
	int err = 0;

	if (!n)
		return 0;
	qsort(samples, n, sizeof(*samples), by_use);
	str_addf(&h->pen.text, "%s[%" PRIu32, *is_first ? "" : ",\n", samples[0].cell);
	for (size_t i = 0; !err && i < n; i++) {
		uint64_t count = samples[i].count;

		while (i + 1 < n && samples[i + 1].use == samples[i].use)
			count += samples[++i].count;
		str_addf(&h->pen.text, ",%" PRIu32 ",%" PRIu64, samples[i].use - last,
			 count);
		last = samples[i].use;
		err = pen_pass(&h->pen);
	}
	str_add_char(&h->pen.text, ']');
	*is_first = false;
	h->samples.n = 0;
	return err;
}

/* Moves a count from those without a time into a cell. */
static int take(struct html *h, const struct timeline_sample *from, bool *is_first)
{
	struct html_sample sample = { .use = h->use_of[from->use] };
	int err = 0;

	if (sample.use == HTML_UNUSED)
		return 0;
	sample.cell = (uint32_t)((from->second - h->reading->timeline.first) / h->cell_s);
	sample.count = from->count;
	/* a log and its sums agree, unless who made them was wrong */
	if (sample.count > h->sums.items[sample.use])
		sample.count = h->sums.items[sample.use];
	h->sums.items[sample.use] -= sample.count;
	if (h->samples.n && h->samples.items[0].cell != sample.cell)
		err = write_cell(h, is_first);
	return err ? err : vec_push(&h->samples, sample);
}

static int write_cells(struct html *h)
{
	struct timeline_cursor cursor = { 0 };
	struct timeline_sample sample;
	bool is_first = true;
	int err = 0;

	str_add(&h->pen.text, "\"cells\":[");
	while (!err && timeline_next(&h->reading->timeline, &cursor, &sample))
		err = take(h, &sample, &is_first);
	if (!err)
		err = write_cell(h, &is_first);
	str_add(&h->pen.text, "],\n");
	return err;
}

static int write_undated(struct html *h)
{
	const char *comma = "";
	int err = 0;

	str_add(&h->pen.text, "\"undated\":[");
	for (size_t i = 0; !err && i < h->sums.n; i++) {
		if (!h->sums.items[i])
			continue;
		str_addf(&h->pen.text, "%s%zu,%" PRIu64, comma, i, h->sums.items[i]);
		comma = ",";
		err = pen_pass(&h->pen);
	}
	str_add(&h->pen.text, "],\n");
	return err;
}

int html_write_samples(struct html *h)
{
	int err = choose_cell(h);

	str_addf(&h->pen.text, "\"cell_s\":%" PRIu64 ",\n", h->cell_s);
	if (!err)
		err = write_uses(h);
	if (!err)
		err = write_cells(h);
	return err ? err : write_undated(h);
}
