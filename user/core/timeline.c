// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log, in varints: a second's entries are its distance to the one before
 * (zigzag), how many they are, and each the distance of its sample key to the one
 * before, doubled, plus 1 when a count follows; else it is 1.
 */
#include "core/timeline.h"

#include "base/error.h"
#include "base/varint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void timeline_free(struct timeline *timeline)
{
	pairs_free(&timeline->sample_keys);
	vec_free(&timeline->counts);
	vec_free(&timeline->pending);
	str_free(&timeline->log);
}

static int by_sample_key(const void *a, const void *b)
{
	uint32_t x = ((const struct timeline_pending *)a)->sample_key;
	uint32_t y = ((const struct timeline_pending *)b)->sample_key;

	return x < y ? -1 : x > y;
}

/* Equal neighbours become one; how many are left. */
static size_t unite(struct timeline_pending *items, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t sum = items[i].count;

		while (i + 1 < n && items[i + 1].sample_key == items[i].sample_key &&
		       sum + items[i + 1].count <= UINT32_MAX)
			sum += items[++i].count;
		items[kept++] =
			(struct timeline_pending){ items[i].sample_key, (uint32_t)sum };
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

		varint_add(&timeline->log, step << 1 | (item->count != 1));
		if (item->count != 1)
			varint_add(&timeline->log, item->count);
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

/* Sums are far from where 64 bits end, so nobody has to ask. */
static bool sum_up(struct timeline *timeline, uint32_t sample_key, uint64_t count)
{
	if (count > TIMELINE_COUNT_MAX - timeline->total) {
		timeline->refused += count;
		return false;
	}
	timeline->counts.items[sample_key] += count;
	timeline->total += count;
	return true;
}

void timeline_add_undated_by_key(struct timeline *timeline, uint32_t sample_key,
				 uint64_t count)
{
	if (sum_up(timeline, sample_key, count))
		timeline->undated += count;
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
			uint64_t count)
{
	int err = 0;

	if (!count)
		return 0;
	if (count > UINT32_MAX || timeline->log.n >= TIMELINE_BYTES_MAX) {
		timeline_add_undated_by_key(timeline, sample_key, count);
		return 0;
	}
	if (second != timeline->second || timeline->pending.n >= TIMELINE_PENDING_MAX)
		err = timeline_flush(timeline);
	if (err || !sum_up(timeline, sample_key, count))
		return err;
	timeline->second = second;
	note_second(timeline, second);
	return vec_push(&timeline->pending,
			(struct timeline_pending){ sample_key, (uint32_t)count });
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
	return err ? err : timeline_add_by_key(timeline, second, sample_key, count);
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
	if (!err)
		timeline_add_undated_by_key(timeline, sample_key, count);
	return err;
}

bool timeline_next(const struct timeline *timeline, struct timeline_cursor *cursor,
		   struct timeline_sample *ret)
{
	const struct str *log = &timeline->log;
	uint64_t value, count = 1;

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
	    ((value & 1) && !varint_get(log->s, log->n, &cursor->at, &count)))
		return false;
	cursor->sample_key += (uint32_t)(value >> 1);
	*ret = (struct timeline_sample){
		.second = cursor->second,
		.sample_key = cursor->sample_key,
		.stack = timeline->sample_keys.items[cursor->sample_key].a,
		.thread = timeline->sample_keys.items[cursor->sample_key].b,
		.count = count,
	};
	return true;
}

void timeline_dated(const struct timeline *timeline, uint64_t *dated)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;

	while (timeline_next(timeline, &at, &sample))
		dated[sample.sample_key] += sample.count;
}

/* What of a sample key no second holds: all of it but what is dated. */
static void keep_undated(struct timeline *into, const struct timeline *from,
			 const bool *keep, const uint64_t *dated)
{
	for (size_t i = 0; i < from->sample_keys.n; i++)
		if (keep[i])
			timeline_add_undated_by_key(into, (uint32_t)i,
						    from->counts.items[i] - dated[i]);
}

int timeline_keep(struct timeline *timeline, const bool *keep, uint32_t from, uint64_t to)
{
	struct timeline kept = { .sample_keys = timeline->sample_keys,
				 .refused = timeline->refused };
	uint64_t *dated = calloc(timeline->sample_keys.n + 1, sizeof(*dated));
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	int err = vec_reserve(&kept.counts, timeline->sample_keys.n);

	if (!dated && !err)
		err = fail(-ENOMEM, "no memory for %zu sample keys",
			   timeline->sample_keys.n);
	if (!err)
		memset(kept.counts.items, 0, timeline->sample_keys.n * sizeof(uint64_t));
	kept.counts.n = timeline->sample_keys.n;
	while (!err && timeline_next(timeline, &at, &sample)) {
		dated[sample.sample_key] += sample.count;
		if (keep[sample.sample_key] && sample.second >= from &&
		    sample.second < to)
			err = timeline_add_by_key(&kept, sample.second, sample.sample_key,
						  sample.count);
	}
	if (!err && timeline->undated && !from && to > UINT32_MAX)
		keep_undated(&kept, timeline, keep, dated);
	if (!err)
		err = timeline_flush(&kept);
	free(dated);
	timeline->sample_keys = (struct pairs){ 0 };
	timeline_free(timeline);
	*timeline = kept;
	return err;
}
