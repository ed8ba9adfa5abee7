// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who ran which stack and when. A cell is a second, or more where the recording
 * is so long or so busy that a browser could not hold it: what is in one is
 * added up, and how long it is stands in the page.
 */
#include "format/html/html_write.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define CELLS_MAX   1200
#define SAMPLES_MAX (3u << 20)

static int write_uses(struct html *h)
{
	int err = 0;

	json_open(&h->json, "uses", '[');
	for (size_t i = 0; !err && i < h->sample_keys.n; i++) {
		json_uint(&h->json, NULL, h->sample_keys.items[i].a);
		json_uint(&h->json, NULL, h->sample_keys.items[i].b);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

static uint64_t seconds_of(const struct html *h)
{
	const struct timeline *timeline = &h->profile->timeline;

	return timeline->is_dated ? (uint64_t)timeline->last - timeline->first + 1 : 0;
}

/* Would cells of so many seconds be more than a page can hold? Where the log is not
 * in order they are counted more than once. */
static int are_too_many(const struct html *h, uint64_t cell_s, bool *ret)
{
	const struct timeline *timeline = &h->profile->timeline;
	AUTO_FREE uint32_t *last = calloc(h->sample_keys.n + 1, sizeof(*last));
	struct timeline_cursor cursor = { 0 };
	struct timeline_sample sample;
	size_t n = 0;

	if (!last)
		return fail(-ENOMEM, "no memory for a page of %zu sample keys",
			    h->sample_keys.n);
	while (n <= SAMPLES_MAX && timeline_next(timeline, &cursor, &sample)) {
		uint64_t cell = (sample.second - timeline->first) / cell_s + 1;
		uint32_t sample_key = h->sample_key_of[sample.sample_key];

		if (sample_key == HTML_UNUSED || last[sample_key] == (uint32_t)cell)
			continue;
		last[sample_key] = (uint32_t)cell;
		n++;
	}
	*ret = n > SAMPLES_MAX;
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
	bool too_many = true;
	int err = 0;

	h->cell_s = 1;
	while (seconds / h->cell_s >= CELLS_MAX)
		h->cell_s = longer(h->cell_s);
	while (!err && h->cell_s < seconds) {
		err = are_too_many(h, h->cell_s, &too_many);
		if (err || !too_many)
			break;
		h->cell_s = longer(h->cell_s);
	}
	return err;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Writes the cell at hand and empties it. */
static int write_cell(struct html *h)
{
	uint32_t last = 0;
	int err = 0;

	if (!h->cell_sample_keys.n)
		return 0;
	vec_sort(&h->cell_sample_keys, by_number);
	if (h->json.has_item)
		json_line(&h->json);
	json_open(&h->json, NULL, '[');
	json_uint(&h->json, NULL, h->cell);
	for (size_t i = 0; !err && i < h->cell_sample_keys.n; i++) {
		uint32_t sample_key = h->cell_sample_keys.items[i];

		json_uint(&h->json, NULL, sample_key - last);
		json_uint(&h->json, NULL, h->in_cell[sample_key]);
		h->in_cell[sample_key] = 0;
		last = sample_key;
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	h->cell_sample_keys.n = 0;
	return err;
}

/* Moves a count from those without a time into a cell. */
static int take(struct html *h, const struct timeline_sample *sample)
{
	uint32_t first = h->profile->timeline.first,
		 sample_key = h->sample_key_of[sample->sample_key];
	uint32_t cell = (uint32_t)((sample->second - first) / h->cell_s);
	uint64_t count = sample->count;
	int err = 0;

	/* a log and its sums agree, unless who made them was wrong */
	if (sample_key != HTML_UNUSED && count > h->sums.items[sample_key])
		count = h->sums.items[sample_key];
	if (sample_key == HTML_UNUSED || !count)
		return 0;
	if (cell != h->cell)
		err = write_cell(h);
	if (!err && !h->in_cell[sample_key])
		err = vec_push(&h->cell_sample_keys, sample_key);
	h->cell = cell;
	h->in_cell[sample_key] += count;
	h->sums.items[sample_key] -= count;
	return err;
}

static int write_cells(struct html *h)
{
	struct timeline_cursor cursor = { 0 };
	struct timeline_sample sample;
	int err = 0;

	h->in_cell = calloc(h->sample_keys.n + 1, sizeof(*h->in_cell));
	if (!h->in_cell)
		return fail(-ENOMEM, "no memory for a page of %zu sample keys",
			    h->sample_keys.n);
	json_open(&h->json, "cells", '[');
	while (!err && timeline_next(&h->profile->timeline, &cursor, &sample))
		err = take(h, &sample);
	if (!err)
		err = write_cell(h);
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

static int write_undated(struct html *h)
{
	int err = 0;

	json_open(&h->json, "undated", '[');
	for (size_t i = 0; !err && i < h->sums.n; i++) {
		if (!h->sums.items[i])
			continue;
		json_uint(&h->json, NULL, i);
		json_uint(&h->json, NULL, h->sums.items[i]);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

int html_write_samples(struct html *h)
{
	int err = choose_cell(h);

	json_uint(&h->json, "cell_s", h->cell_s);
	json_line(&h->json);
	if (!err)
		err = write_uses(h);
	if (!err)
		err = write_cells(h);
	return err ? err : write_undated(h);
}
