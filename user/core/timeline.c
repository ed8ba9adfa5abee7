// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log, in varints: a second's entries are its distance to the one before
 * (zigzag), how many they are, and each the distance of its sample key to the one
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
	pairs_free(&timeline->sample_keys);
	vec_free(&timeline->counts);
	vec_free(&timeline->weighed);
	vec_free(&timeline->pending);
	str_free(&timeline->log);
}

static int by_sample_key(const void *a, const void *b)
{
	const struct timeline_pending *x = a, *y = b;

	if (x->sample_key != y->sample_key)
		return x->sample_key < y->sample_key ? -1 : 1;
	return (x->weight_ns != 0) - (y->weight_ns != 0);
}

static bool add_up(const struct timeline_pending *a, const struct timeline_pending *b)
{
	return a->sample_key == b->sample_key && !a->weight_ns == !b->weight_ns;
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
		items[kept++] = (struct timeline_pending){ items[i].sample_key,
							   (uint32_t)sum, weight_ns };
	}
	return kept;
}

int timeline_flush(struct timeline *timeline)
{
	size_t n = timeline->pending.n;
	uint32_t before = 0;

	if (!n)
		return 0;
	vec_sort(&timeline->pending, by_sample_key);
	n = unite(timeline->pending.items, n);
	varint_add(&timeline->log,
		   zigzag((int64_t)timeline->second - timeline->logged_second));
	varint_add(&timeline->log, n);
	for (size_t i = 0; i < n; i++) {
		const struct timeline_pending *item = &timeline->pending.items[i];
		uint64_t step = item->sample_key - before;

		varint_add(&timeline->log,
			   step << 2 | !!item->weight_ns << 1 | (item->count != 1));
		if (item->count != 1)
			varint_add(&timeline->log, item->count);
		if (item->weight_ns)
			varint_add(&timeline->log, item->weight_ns);
		before = item->sample_key;
	}
	timeline->logged_second = timeline->second;
	timeline->pending.n = 0;
	return str_error(&timeline->log) ? fail(-ENOMEM, "no memory for the timeline")
					 : 0;
}

int timeline_sample_key(struct timeline *timeline, struct pair sample_key, uint32_t *ret)
{
	int err = pairs_id(&timeline->sample_keys, sample_key, SAMPLE_KEYS_MAX, ret);

	return err || *ret < timeline->counts.n ? err : vec_push(&timeline->counts, 0);
}

/* The room for a sample key's weight is made when the first one is said. */
static int weigh(struct timeline *timeline, uint32_t sample_key,
		 struct timeline_amount amount)
{
	int err = 0;

	while (!err && timeline->weighed.n <= sample_key)
		err = vec_push(&timeline->weighed, (struct timeline_weighed){ 0 });
	if (err)
		return err;
	timeline->weighed.items[sample_key].count += amount.count;
	timeline->weighed.items[sample_key].weight_ns += amount.weight_ns;
	timeline->weighed_ns += amount.weight_ns;
	return 0;
}

enum { BEYOND = 1 };

/* Sums are far from where 64 bits end, so nobody has to ask. */
static int sum_up(struct timeline *timeline, uint32_t sample_key,
		  struct timeline_amount amount)
{
	int err = 0;

	if (amount.count > TIMELINE_COUNT_MAX - timeline->total ||
	    amount.weight_ns > TIMELINE_COUNT_MAX - timeline->weighed_ns) {
		timeline->refused += amount.count;
		return BEYOND;
	}
	if (amount.weight_ns)
		err = weigh(timeline, sample_key, amount);
	if (err)
		return err;
	timeline->counts.items[sample_key] += amount.count;
	timeline->total += amount.count;
	return 0;
}

int timeline_add_undated_by_key(struct timeline *timeline, uint32_t sample_key,
				struct timeline_amount amount)
{
	int err = sum_up(timeline, sample_key, amount);

	if (!err)
		timeline->undated += amount.count;
	return err < 0 ? err : 0;
}

uint64_t timeline_times(uint64_t count, uint64_t each_ns)
{
	uint64_t ret;

	return __builtin_mul_overflow(count, each_ns, &ret) ? UINT64_MAX : ret;
}

uint64_t timeline_weight_ns(const struct timeline *timeline, uint32_t sample_key,
			    uint64_t usual_ns)
{
	struct timeline_weighed said = { 0 };

	if (sample_key < timeline->weighed.n)
		said = timeline->weighed.items[sample_key];
	/* what is said stays below 2^62 */
	usual_ns =
		timeline_times(timeline->counts.items[sample_key] - said.count, usual_ns);
	return usual_ns + said.weight_ns < usual_ns ? UINT64_MAX
						    : usual_ns + said.weight_ns;
}

static void note_second(struct timeline *timeline, uint32_t second)
{
	if (!timeline->is_dated || second < timeline->first)
		timeline->first = second;
	if (!timeline->is_dated || second > timeline->last)
		timeline->last = second;
	timeline->is_dated = true;
}

int timeline_add_by_key(struct timeline *timeline, uint32_t second, uint32_t sample_key,
			struct timeline_amount amount)
{
	int err = 0;

	if (!amount.count)
		return 0;
	if (amount.count > UINT32_MAX || timeline->log.n >= TIMELINE_BYTES_MAX)
		return timeline_add_undated_by_key(timeline, sample_key, amount);
	if (second != timeline->second || timeline->pending.n >= TIMELINE_PENDING_MAX)
		err = timeline_flush(timeline);
	if (!err)
		err = sum_up(timeline, sample_key, amount);
	if (err)
		return err < 0 ? err : 0;
	timeline->second = second;
	note_second(timeline, second);
	return vec_push(&timeline->pending,
			(struct timeline_pending){ sample_key, (uint32_t)amount.count,
						   amount.weight_ns });
}

int timeline_add(struct timeline *timeline, uint32_t second, uint32_t stack,
		 uint32_t thread, uint64_t count)
{
	uint32_t sample_key;
	int err = timeline_sample_key(timeline, (struct pair){ stack, thread },
				      &sample_key);

	if (err == PAIRS_FULL) {
		timeline->refused += count;
		return 0;
	}
	return err ? err
		   : timeline_add_by_key(timeline, second, sample_key,
					 (struct timeline_amount){ count, 0 });
}

int timeline_add_undated(struct timeline *timeline, uint32_t stack, uint32_t thread,
			 uint64_t count)
{
	uint32_t sample_key;
	int err = timeline_sample_key(timeline, (struct pair){ stack, thread },
				      &sample_key);

	if (err == PAIRS_FULL) {
		timeline->refused += count;
		return 0;
	}
	return err ? err
		   : timeline_add_undated_by_key(timeline, sample_key,
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
		cursor->sample_key = 0;
		if (!varint_get(log->s, log->n, &cursor->at, &cursor->left) ||
		    !cursor->left)
			return false;
	}
	cursor->left--;
	if (!varint_get(log->s, log->n, &cursor->at, &value) ||
	    ((value & 1) && !varint_get(log->s, log->n, &cursor->at, &count)) ||
	    ((value & 2) && !varint_get(log->s, log->n, &cursor->at, &weight_ns)))
		return false;
	cursor->sample_key += (uint32_t)(value >> 2);
	*ret = (struct timeline_sample){
		.second = cursor->second,
		.sample_key = cursor->sample_key,
		.stack = timeline->sample_keys.items[cursor->sample_key].a,
		.thread = timeline->sample_keys.items[cursor->sample_key].b,
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
		struct dated *d = &dated[sample.sample_key];

		if (sample.weight_ns) {
			d->weighed.count += sample.count;
			d->weighed.weight_ns += sample.weight_ns;
		} else {
			d->count += sample.count;
		}
	}
}

int timeline_each_undated(const struct timeline *timeline,
			  int (*add)(void *arg, uint32_t sample_key,
				     struct timeline_amount amount),
			  void *arg)
{
	AUTO_FREE struct dated *dated = NULL;
	int err = 0;

	if (!timeline->undated)
		return 0;
	dated = calloc(timeline->sample_keys.n + 1, sizeof(*dated));
	if (!dated)
		return fail(-ENOMEM, "no memory for %zu sample keys",
			    timeline->sample_keys.n);
	find_dated(timeline, dated);
	for (uint32_t i = 0; !err && i < timeline->sample_keys.n; i++) {
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

struct undated_filter {
	struct timeline *into;
	const bool *keep;
};

static int keep_undated(void *arg, uint32_t sample_key, struct timeline_amount amount)
{
	const struct undated_filter *f = arg;

	return f->keep[sample_key]
		       ? timeline_add_undated_by_key(f->into, sample_key, amount)
		       : 0;
}

/* Takes the sample keys as they are. */
static int keep_into(struct timeline *kept, const struct timeline *timeline,
		     const bool *keep, const uint64_t range[2])
{
	struct undated_filter filter = { kept, keep };
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err;

	*kept = (struct timeline){ .sample_keys = timeline->sample_keys,
				   .refused = timeline->refused };
	err = vec_reserve(&kept->counts, timeline->sample_keys.n);
	if (!err && timeline->sample_keys.n)
		memset(kept->counts.items, 0, timeline->sample_keys.n * sizeof(uint64_t));
	kept->counts.n = timeline->sample_keys.n;
	while (!err && timeline_next(timeline, &at, &sample))
		if (keep[sample.sample_key] && sample.second >= range[0] &&
		    sample.second < range[1])
			err = timeline_add_by_key(
				kept, sample.second, sample.sample_key,
				(struct timeline_amount){ sample.count,
							  sample.weight_ns });
	if (!err && !range[0] && range[1] > UINT32_MAX)
		err = timeline_each_undated(timeline, keep_undated, &filter);
	return err ? err : timeline_flush(kept);
}

int timeline_keep(struct timeline *timeline, const bool *keep, uint32_t from, uint64_t to)
{
	struct timeline kept;
	int err = keep_into(&kept, timeline, keep, (const uint64_t[]){ from, to });

	timeline->sample_keys = (struct pairs){ 0 };
	timeline_free(timeline);
	*timeline = kept;
	return err;
}

int timeline_part(const struct timeline *timeline, const bool *keep, struct timeline *ret)
{
	return keep_into(ret, timeline, keep, (const uint64_t[]){ 0, UINT64_MAX });
}

void timeline_part_free(struct timeline *part)
{
	part->sample_keys = (struct pairs){ 0 };
	timeline_free(part);
}
