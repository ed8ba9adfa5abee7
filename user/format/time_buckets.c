// SPDX-License-Identifier: BSD-2-Clause
#include "format/time_buckets.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define NO_TIME UINT32_MAX

enum { TOO_MANY = 1 };

struct time_bucket_filler {
	struct time_buckets *time_buckets;
	const struct profile *r;
	uint32_t *end_of; /* by sample key */
	uint64_t *left;	  /* by end: what is in no time bucket yet */
	size_t *last;	  /* by end: its latest time bucket's index + 1 */
};

void time_buckets_free(struct time_buckets *time_buckets)
{
	pairs_free(&time_buckets->ends);
	vec_free(&time_buckets->sums);
	vec_free(&time_buckets->items);
}

static int find_ends(struct time_bucket_filler *f, enum view view)
{
	const struct timeline *timeline = &f->r->timeline;
	struct time_buckets *m = f->time_buckets;
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

static int add(struct time_bucket_filler *f, uint32_t step, uint32_t end, uint64_t count)
{
	struct time_buckets *m = f->time_buckets;
	size_t last = f->last[end];

	f->left[end] -= count;
	if (last && m->items.items[last - 1].step == step) {
		m->items.items[last - 1].count += count;
		return 0;
	}
	f->last[end] = m->items.n + 1;
	return vec_push(&m->items, (struct time_bucket){ step, end, count });
}

/* In steps of so many seconds; TOO_MANY: they are. */
static int collect(struct time_bucket_filler *f, uint64_t seconds)
{
	const struct timeline *timeline = &f->r->timeline;
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = 0;

	f->time_buckets->items.n = 0;
	memset(f->last, 0, f->time_buckets->ends.n * sizeof(*f->last));
	memcpy(f->left, f->time_buckets->sums.items,
	       f->time_buckets->ends.n * sizeof(*f->left));
	while (!err && timeline_next(timeline, &at, &sample)) {
		err = add(f, (uint32_t)((sample.second - timeline->first) / seconds),
			  f->end_of[sample.sample_key], sample.count);
		if (!err && f->time_buckets->items.n > TIME_BUCKETS_MAX &&
		    f->time_buckets->items.n > f->time_buckets->ends.n)
			err = TOO_MANY;
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct time_bucket *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int find(struct time_bucket_filler *f, enum view view)
{
	struct time_buckets *m = f->time_buckets;
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

int time_buckets_fill(struct time_buckets *time_buckets, const struct profile *r,
		      enum view view)
{
	struct time_bucket_filler f = { .time_buckets = time_buckets, .r = r };
	int err;

	f.end_of = calloc(r->timeline.sample_keys.n + 1, sizeof(*f.end_of));
	err = f.end_of ? find(&f, view) : fail(-ENOMEM, "no memory for a timeline");
	free(f.end_of);
	free(f.left);
	free(f.last);
	return err;
}
