/* SPDX-License-Identifier: BSD-2-Clause */
/* Memories by chance, and what can be known of the walks in them. */
#ifndef WEFT_TESTS_STORM_H
#define WEFT_TESTS_STORM_H

#include "world.h"

struct storm_sum {
	uint64_t endings[N_ENDINGS]; /* of threads and segments */
	uint64_t roots, gaps, chains;
};

uint64_t storm_random(uint64_t *chance);

/* A memory, knobs and the registers of a thread, all of this seed. */
struct sampled storm_make(uint64_t seed);

/* A code of a stack of n codes, more often than not with a meaning. */
uint32_t storm_code(uint64_t *chance, size_t n);

/* What the record says that is not so in memory; NULL: nothing. */
const char *storm_lie(const struct sampled *at, const struct sample_rec *rec);

void storm_count(struct storm_sum *sum, const struct sample_rec *rec);

#endif
