/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who ran which stack, how often, and in which second. A sample key is a distinct
 * {stack, thread}; each has a small number and a sum, and the seconds are a log
 * of sample keys in a few bytes a sample, so that an hour of a large machine fits.
 *
 * Seconds come in any order, also twice; who reads the log adds them up. The log
 * has a limit: what comes after it is in the sums alone, and counted.
 */
#ifndef WEFT_CORE_TIMELINE_H
#define WEFT_CORE_TIMELINE_H

#include "base/pairs.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_KEYS_MAX	     (32u << 20)
#define TIMELINE_BYTES_MAX   (256u << 20)
#define TIMELINE_PENDING_MAX (64u << 10)
#define TIMELINE_COUNT_MAX   (1ULL << 62) /* of all together */

struct timeline_pending {
	uint32_t sample_key, count;
};

struct timeline {		  /* {0} is an empty one */
	struct pairs sample_keys; /* a = stack, b = thread; by sample key */
	VEC(uint64_t) counts;	  /* by sample key, over all seconds */
	uint64_t total;
	uint64_t refused; /* counts beyond a limit: not in total */
	uint64_t undated; /* counts that are in no second */
	bool is_dated;	  /* any second was seen; from first to last */
	uint32_t first, last;
	struct str log;
	VEC(struct timeline_pending) pending; /* of `second`, not in the log yet */
	uint32_t second, logged_second;
};

struct timeline_sample {
	uint32_t second, sample_key, stack, thread;
	uint64_t count;
};

void timeline_free(struct timeline *timeline); /* what it holds, not itself */

/* 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, uint32_t second, uint32_t stack,
		 uint32_t thread, uint64_t count);

/* To the sums alone: it has no time. */
int timeline_add_undated(struct timeline *timeline, uint32_t stack, uint32_t thread,
			 uint64_t count);

/*
 * In two steps, for who knows sample keys by number: 0, PAIRS_FULL or -ENOMEM; then
 * counts of a sample key that is there, at most UINT32_MAX at once where they are dated.
 */
int timeline_sample_key(struct timeline *timeline, struct pair sample_key, uint32_t *ret);
int timeline_add_by_key(struct timeline *timeline, uint32_t second, uint32_t sample_key,
			uint64_t count);
void timeline_add_undated_by_key(struct timeline *timeline, uint32_t sample_key,
				 uint64_t count);

/* What is pending goes into the log; call before it is read. */
int timeline_flush(struct timeline *timeline);

/* Only the sample keys with keep[sample_key], and of these what fell from `from` up to
 * but not in `to`; what is undated stays where all seconds do. Sample keys keep their
 * numbers. */
int timeline_keep(struct timeline *timeline, const bool *keep, uint32_t from,
		  uint64_t to);

/*
 * Reads the log: struct timeline_cursor c = {0}; while (timeline_next(t, &c, &s)) …
 * Within a second by sample key; adds up to total - undated.
 */
struct timeline_cursor {
	size_t at;
	uint32_t second, sample_key;
	uint64_t left; /* of this second's entries */
};

/* Adds what the log has of each sample key to dated[], which has a place for each. */
void timeline_dated(const struct timeline *timeline, uint64_t *dated);

bool timeline_next(const struct timeline *timeline, struct timeline_cursor *cursor,
		   struct timeline_sample *ret);

#endif
