// SPDX-License-Identifier: BSD-2-Clause
#include "base/histogram.h"

/* Twice this many numbers have buckets of their own. */
#define HALVES (1u << HISTOGRAM_BITS)

static unsigned int shift_of(uint64_t number)
{
	return number < HALVES ? 0 : 63 - HISTOGRAM_BITS - __builtin_clzll(number);
}

void histogram_add(struct histogram *histogram, uint64_t number)
{
	unsigned int shift = shift_of(number);

	/* the highest bit is there, so the next shift's buckets begin where these end */
	histogram->counts[shift * HALVES + (number >> shift)]++;
	histogram->n++;
	if (number > histogram->max)
		histogram->max = number;
}

static uint64_t greatest_in(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * HALVES ? 0 : bucket / HALVES - 1;
	uint64_t first = (uint64_t)(bucket - shift * HALVES) << shift;

	return first + ((uint64_t)1 << shift) - 1;
}

uint64_t histogram_rank(const struct histogram *histogram, uint64_t rank)
{
	uint64_t greatest;
	unsigned int i = 0;

	while (i < HISTOGRAM_BUCKETS - 1 && rank >= histogram->counts[i])
		rank -= histogram->counts[i++];
	greatest = greatest_in(i);
	return greatest < histogram->max ? greatest : histogram->max;
}
