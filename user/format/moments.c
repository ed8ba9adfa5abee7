// SPDX-License-Identifier: BSD-2-Clause
#include "format/moments.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define NO_TIME UINT32_MAX

enum { TOO_MANY = 1 };

struct moment_finder {
	struct moments *moments;
	const struct profile *r;
	uint32_t *end_of; /* by sample key */
	uint64_t *left;	  /* by end: what is in no moment yet */
	size_t *last;	  /* by end: its latest moment's index + 1 */
};

void moments_free(struct moments *moments)
{
	pairs_free(&moments->ends);
	vec_free(&moments->sums);
	vec_free(&moments->items);
}

static int find_ends(struct moment_finder *f, enum view view)
{
	const struct timeline *timeline = &f->r->timeline;
	struct moments *m = f->moments;
	int err = 0;

	for (size_t i = 0; !err && i < timeline->sample_keys.n; i++) {
		struct pair sample_key = timeline->sample_keys.items[i];
		struct pair end = { f->r->stacks.items[sample_key.a].node[view],
				    f->r->threads.items[sample_key.b].name };

		err = pairs_id(&m->ends, end, UINT32_MAX, &f->end_of[i]);
		if (!err && f->end_of[i] == m->sums.n)
			err = vec_push(&m->sums, 0);
		if (!err)
			m->sums.items[f->end_of[i]] += timeline->counts.items[i];
	}
	return err;
}

static int add(struct moment_finder *f, uint32_t step, uint32_t end, uint64_t count)
{
	struct moments *m = f->moments;
	size_t last = f->last[end];

	f->left[end] -= count;
	if (last && m->items.items[last - 1].step == step) {
		m->items.items[last - 1].count += count;
		return 0;
	}
	f->last[end] = m->items.n + 1;
	return vec_push(&m->items, (struct moment){ step, end, count });
}

/* In steps of so many seconds; TOO_MANY: they are. */
static int collect(struct moment_finder *f, uint64_t seconds)
{
	const struct timeline *timeline = &f->r->timeline;
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = 0;

	f->moments->items.n = 0;
	memset(f->last, 0, f->moments->ends.n * sizeof(*f->last));
	memcpy(f->left, f->moments->sums.items, f->moments->ends.n * sizeof(*f->left));
	while (!err && timeline_next(timeline, &at, &sample)) {
		err = add(f, (uint32_t)((sample.second - timeline->first) / seconds),
			  f->end_of[sample.sample_key], sample.count);
		if (!err && f->moments->items.n > MOMENTS_MAX &&
		    f->moments->items.n > f->moments->ends.n)
			err = TOO_MANY;
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int find(struct moment_finder *f, enum view view)
{
	struct moments *m = f->moments;
	uint64_t seconds = 1;
	int err = find_ends(f, view);

	f->left = calloc(m->ends.n + 1, sizeof(*f->left));
	f->last = calloc(m->ends.n + 1, sizeof(*f->last));
	if (!f->left || !f->last)
		return fail(-ENOMEM, "no memory for %zu stacks", m->ends.n);
	if (err || !m->ends.n)
		return err;
	/* in the end all is one step, where nothing is too much */
	while ((err = collect(f, seconds)) == TOO_MANY)
		seconds *= 4;
	for (uint32_t end = 0; !err && end < m->ends.n; end++)
		if (f->left[end])
			err = add(f, NO_TIME, end, f->left[end]);
	if (!err)
		vec_sort(&m->items, by_time);
	return err;
}

int moments_find(struct moments *moments, const struct profile *r, enum view view)
{
	struct moment_finder f = { .moments = moments, .r = r };
	int err;

	f.end_of = calloc(r->timeline.sample_keys.n + 1, sizeof(*f.end_of));
	err = f.end_of ? find(&f, view) : fail(-ENOMEM, "no memory for a timeline");
	free(f.end_of);
	free(f.left);
	free(f.last);
	return err;
}
