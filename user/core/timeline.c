// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log, in varints: a second's entries are its distance to the one before
 * (zigzag), how many they are, and each the distance of its use to the one
 * before, times four, plus 1 when a count follows, which else is 1, and plus 2 when
 * a weight follows, which else is the usual one.
 */
#include "core/timeline.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/varint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void timeline_free(struct timeline *timeline)
{
	pairs_free(&timeline->uses);
	vec_free(&timeline->counts);
	vec_free(&timeline->weighed);
	vec_free(&timeline->pending);
	str_free(&timeline->log);
}

static int by_use(const void *a, const void *b)
{
	const struct timeline_pending *x = a, *y = b;

	if (x->use != y->use)
		return x->use < y->use ? -1 : 1;
	return (x->weight_ns != 0) - (y->weight_ns != 0);
}

static bool add_up(const struct timeline_pending *a, const struct timeline_pending *b)
{
	return a->use == b->use && !a->weight_ns == !b->weight_ns;
}

/* Equal neighbours become one; how many are left. */
static size_t unite(struct timeline_pending *items, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t sum = items[i].count, weight_ns = items[i].weight_ns;

		while (i + 1 < n && add_up(&items[i], &items[i + 1]) &&
		       sum + items[i + 1].count <= UINT32_MAX) {
			sum += items[++i].count;
			weight_ns += items[i].weight_ns;
		}
		items[kept++] = (struct timeline_pending){ items[i].use, (uint32_t)sum,
							   weight_ns };
	}
	return kept;
}

int timeline_flush(struct timeline *timeline)
{
	size_t n = timeline->pending.n;
	uint32_t before = 0;

	if (!n)
		return 0;
	vec_sort(&timeline->pending, by_use);
	n = unite(timeline->pending.items, n);
	varint_add(&timeline->log,
		   zigzag((int64_t)timeline->second - timeline->logged_second));
	varint_add(&timeline->log, n);
	for (size_t i = 0; i < n; i++) {
		const struct timeline_pending *item = &timeline->pending.items[i];
		uint64_t step = item->use - before;

		varint_add(&timeline->log,
			   step << 2 | !!item->weight_ns << 1 | (item->count != 1));
		if (item->count != 1)
			varint_add(&timeline->log, item->count);
		if (item->weight_ns)
			varint_add(&timeline->log, item->weight_ns);
		before = item->use;
	}
	timeline->logged_second = timeline->second;
	timeline->pending.n = 0;
	return str_error(&timeline->log) ? fail(-ENOMEM, "no memory for the timeline")
					 : 0;
}

int timeline_use(struct timeline *timeline, struct pair use, uint32_t *ret)
{
	int err = pairs_id(&timeline->uses, use, USES_MAX, ret);

	return err || *ret < timeline->counts.n ? err : vec_push(&timeline->counts, 0);
}

/* The room for a use's weight is made when the first one is said. */
static int weigh(struct timeline *timeline, uint32_t use, struct timeline_amount amount)
{
	int err = 0;

	while (!err && timeline->weighed.n <= use)
		err = vec_push(&timeline->weighed, (struct timeline_weighed){ 0 });
	if (err)
		return err;
	timeline->weighed.items[use].count += amount.count;
	timeline->weighed.items[use].weight_ns += amount.weight_ns;
	timeline->weighed_ns += amount.weight_ns;
	return 0;
}

enum { BEYOND = 1 };

/* Sums are far from where 64 bits end, so nobody has to ask. */
static int sum_up(struct timeline *timeline, uint32_t use, struct timeline_amount amount)
{
	int err = 0;

	if (amount.count > TIMELINE_COUNT_MAX - timeline->total ||
	    amount.weight_ns > TIMELINE_COUNT_MAX - timeline->weighed_ns) {
		timeline->refused += amount.count;
		return BEYOND;
	}
	if (amount.weight_ns)
		err = weigh(timeline, use, amount);
	if (err)
		return err;
	timeline->counts.items[use] += amount.count;
	timeline->total += amount.count;
	return 0;
}

int timeline_add_use_undated(struct timeline *timeline, uint32_t use,
			     struct timeline_amount amount)
{
	int err = sum_up(timeline, use, amount);

	if (!err)
		timeline->undated += amount.count;
	return err < 0 ? err : 0;
}

uint64_t timeline_weight_ns(const struct timeline *timeline, uint32_t use,
			    uint64_t usual_ns)
{
	struct timeline_weighed said = { 0 };

	if (use < timeline->weighed.n)
		said = timeline->weighed.items[use];
	return (timeline->counts.items[use] - said.count) * usual_ns + said.weight_ns;
}

static void note_second(struct timeline *timeline, uint32_t second)
{
	if (!timeline->is_dated || second < timeline->first)
		timeline->first = second;
	if (!timeline->is_dated || second > timeline->last)
		timeline->last = second;
	timeline->is_dated = true;
}

int timeline_add_use(struct timeline *timeline, uint32_t second, uint32_t use,
		     struct timeline_amount amount)
{
	int err = 0;

	if (!amount.count)
		return 0;
	if (amount.count > UINT32_MAX || timeline->log.n >= TIMELINE_BYTES_MAX)
		return timeline_add_use_undated(timeline, use, amount);
	if (second != timeline->second || timeline->pending.n >= TIMELINE_PENDING_MAX)
		err = timeline_flush(timeline);
	if (!err)
		err = sum_up(timeline, use, amount);
	if (err)
		return err < 0 ? err : 0;
	timeline->second = second;
	note_second(timeline, second);
	return vec_push(&timeline->pending,
			(struct timeline_pending){ use, (uint32_t)amount.count,
						   amount.weight_ns });
}

int timeline_add(struct timeline *timeline, uint32_t second, uint32_t stack,
		 uint32_t thread, uint64_t count)
{
	uint32_t use;
	int err = timeline_use(timeline, (struct pair){ stack, thread }, &use);

	if (err == PAIRS_FULL) {
		timeline->refused += count;
		return 0;
	}
	return err ? err
		   : timeline_add_use(timeline, second, use,
				      (struct timeline_amount){ count, 0 });
}

int timeline_add_undated(struct timeline *timeline, uint32_t stack, uint32_t thread,
			 uint64_t count)
{
	uint32_t use;
	int err = timeline_use(timeline, (struct pair){ stack, thread }, &use);

	if (err == PAIRS_FULL) {
		timeline->refused += count;
		return 0;
	}
	return err ? err
		   : timeline_add_use_undated(timeline, use,
					      (struct timeline_amount){ count, 0 });
}

bool timeline_next(const struct timeline *timeline, struct timeline_cursor *cursor,
		   struct timeline_sample *ret)
{
	const struct str *log = &timeline->log;
	uint64_t value, count = 1, weight_ns = 0;

	if (!cursor->left) {
		if (cursor->at >= log->n ||
		    !varint_get(log->s, log->n, &cursor->at, &value))
			return false;
		cursor->second += (uint32_t)unzigzag(value);
		cursor->use = 0;
		if (!varint_get(log->s, log->n, &cursor->at, &cursor->left) ||
		    !cursor->left)
			return false;
	}
	cursor->left--;
	if (!varint_get(log->s, log->n, &cursor->at, &value) ||
	    ((value & 1) && !varint_get(log->s, log->n, &cursor->at, &count)) ||
	    ((value & 2) && !varint_get(log->s, log->n, &cursor->at, &weight_ns)))
		return false;
	cursor->use += (uint32_t)(value >> 2);
	*ret = (struct timeline_sample){
		.second = cursor->second,
		.use = cursor->use,
		.stack = timeline->uses.items[cursor->use].a,
		.thread = timeline->uses.items[cursor->use].b,
		.count = count,
		.weight_ns = weight_ns,
	};
	return true;
}

struct dated {
	uint64_t count; /* of the usual weight */
	struct timeline_weighed weighed;
};

static void find_dated(const struct timeline *timeline, struct dated *dated)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;

	while (timeline_next(timeline, &at, &sample)) {
		struct dated *d = &dated[sample.use];

		if (sample.weight_ns) {
			d->weighed.count += sample.count;
			d->weighed.weight_ns += sample.weight_ns;
		} else {
			d->count += sample.count;
		}
	}
}

int timeline_each_undated(const struct timeline *timeline,
			  int (*add)(void *arg, uint32_t use,
				     struct timeline_amount amount),
			  void *arg)
{
	AUTO_FREE struct dated *dated = NULL;
	int err = 0;

	if (!timeline->undated)
		return 0;
	dated = calloc(timeline->uses.n + 1, sizeof(*dated));
	if (!dated)
		return fail(-ENOMEM, "no memory for %zu uses", timeline->uses.n);
	find_dated(timeline, dated);
	for (uint32_t i = 0; !err && i < timeline->uses.n; i++) {
		struct timeline_weighed said = { 0 };
		struct timeline_amount left;

		if (i < timeline->weighed.n)
			said = timeline->weighed.items[i];
		left.count = timeline->counts.items[i] - said.count - dated[i].count;
		left.weight_ns = 0;
		if (left.count)
			err = add(arg, i, left);
		left.count = said.count - dated[i].weighed.count;
		left.weight_ns = said.weight_ns - dated[i].weighed.weight_ns;
		if (!err && left.count)
			err = add(arg, i, left);
	}
	return err;
}

struct keeper {
	struct timeline *into;
	const bool *keep;
};

static int keep_undated(void *arg, uint32_t use, struct timeline_amount amount)
{
	const struct keeper *k = arg;

	return k->keep[use] ? timeline_add_use_undated(k->into, use, amount) : 0;
}

int timeline_keep(struct timeline *timeline, const bool *keep, uint32_t from, uint64_t to)
{
	struct timeline kept = { .uses = timeline->uses, .refused = timeline->refused };
	struct keeper keeper = { &kept, keep };
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = vec_reserve(&kept.counts, timeline->uses.n);

	if (!err && timeline->uses.n)
		memset(kept.counts.items, 0, timeline->uses.n * sizeof(uint64_t));
	kept.counts.n = timeline->uses.n;
	while (!err && timeline_next(timeline, &at, &sample))
		if (keep[sample.use] && sample.second >= from && sample.second < to)
			err = timeline_add_use(&kept, sample.second, sample.use,
					       (struct timeline_amount){
						       sample.count, sample.weight_ns });
	if (!err && !from && to > UINT32_MAX)
		err = timeline_each_undated(timeline, keep_undated, &keeper);
	if (!err)
		err = timeline_flush(&kept);
	timeline->uses = (struct pairs){ 0 };
	timeline_free(timeline);
	*timeline = kept;
	return err;
}
