/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of any size, counted in buckets that are a 32nd of their numbers wide, so that
 * ranks can be asked for at any time, in a room that does not grow.
 */
#ifndef WEFT_BASE_HISTOGRAM_H
#define WEFT_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS	  5 /* of a number, below its highest, that tell its bucket */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

/* All 0 has none. */
struct histogram {
	uint64_t n, max;
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t number);

/* The number that so many are less than, in order: exact below 64, else the greatest of
 * its bucket, so at most a 32nd too much; never more than the maximum. 0 <= rank < n. */
uint64_t histogram_rank(const struct histogram *histogram, uint64_t rank);

#endif
