/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who ran which stack, how often, and in which second. A sample key is a distinct
 * {stack, thread}; each has a small number and a sum, and the seconds are a log
 * of sample keys in a few bytes a sample, so that an hour of a large machine fits.
 *
 * What a count weighs is said only where it is not the usual: the period of the
 * sampling, which whoever keeps the timeline knows.
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

struct timeline_amount {
	uint64_t count;
	uint64_t weight_ns; /* of all of them together; 0: as much as is usual */
};

struct timeline_pending {
	uint32_t sample_key, count;
	uint64_t weight_ns;
};

/* Of a sample key's counts, those whose weight is said. */
struct timeline_weighed {
	uint64_t count, weight_ns;
};

struct timeline {			      /* {0} is an empty one */
	struct pairs sample_keys;	      /* a = stack, b = thread; by sample
						       * key */
	VEC(uint64_t) counts;		      /* by sample key, over all seconds */
	VEC(struct timeline_weighed) weighed; /* by sample key, as far as there are any */
	uint64_t total, weighed_ns;
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
	uint64_t count, weight_ns; /* as in an amount */
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
			struct timeline_amount amount);
int timeline_add_undated_by_key(struct timeline *timeline, uint32_t sample_key,
				struct timeline_amount amount);

/* So many of each weight, or the most that there is. */
uint64_t timeline_times(uint64_t count, uint64_t each_ns);

/* All that a sample key weighs, where a count usually weighs so much. */
uint64_t timeline_weight_ns(const struct timeline *timeline, uint32_t sample_key,
			    uint64_t usual_ns);

/* What is pending goes into the log; call before it is read. */
int timeline_flush(struct timeline *timeline);

/* Only the sample keys with keep[sample_key], and of these what fell from `from` up to
 * but not in `to`; what is undated stays where all seconds do. Sample keys keep their
 * numbers. */
int timeline_keep(struct timeline *timeline, const bool *keep, uint32_t from,
		  uint64_t to);

/* The same of all seconds, and beside what it is a part of, whose sample keys it borrows.
 * Ends with _part_free(), also when this failed. */
int timeline_part(const struct timeline *timeline, const bool *keep,
		  struct timeline *ret);
void timeline_part_free(struct timeline *part);

/*
 * Reads the log: struct timeline_cursor c = {0}; while (timeline_next(t, &c, &s)) …
 * Within a second by sample key; adds up to total - undated.
 */
struct timeline_cursor {
	size_t at;
	uint32_t second, sample_key;
	uint64_t left; /* of this second's entries */
};

/*
 * What no second holds: calls add() with each sample key's counts of the usual weight,
 * and with those whose weight is said. 0, -ENOMEM or what add() returns.
 */
int timeline_each_undated(const struct timeline *timeline,
			  int (*add)(void *arg, uint32_t sample_key,
				     struct timeline_amount amount),
			  void *arg);

bool timeline_next(const struct timeline *timeline, struct timeline_cursor *cursor,
		   struct timeline_sample *ret);

#endif
