/* SPDX-License-Identifier: BSD-2-Clause */
/* Memories by chance, and what can be known of the walks in them. */
#ifndef WEFT_TESTS_STORM_H
#define WEFT_TESTS_STORM_H

#include "world.h"

struct storm_sum {
	uint64_t endings[N_ENDINGS]; /* of threads and segments */
	uint64_t roots, gaps, chains;
	uint64_t by_table, signals; /* callers, and interrupted ones */
};

uint64_t storm_random(uint64_t *chance);

/* A memory, knobs, perhaps a mapping table, and the registers of a thread, all of this
 * seed. Spoilt: what the mapping table and its unwind table say is anybody's guess. */
struct sampled storm_make(uint64_t seed, bool *ret_corrupt);

/* A mapping table and an unwind table of the code at text, well built; and corrupt. */
void storm_publish(uint64_t *chance, uint64_t text);
void storm_corrupt(uint64_t *chance);

/* What Go's runtime keeps of a goroutine, or almost. */
void storm_put_goroutine(uint64_t *chance, struct sampled *of, uint64_t at,
			 uint64_t text);

/* A stack whose frames the table leads down, from at->sp on; sets at->pc. */
void storm_fill_by_table(uint64_t *chance, struct sampled *at, uint64_t text);

/* What the thread's words say that is not so by the table, before any gap. */
const char *storm_table_lie(const struct sampled *at, const struct sample_rec *rec);

/* A code of a stack of n codes, more often than not with a meaning. */
uint32_t storm_code(uint64_t *chance, size_t n);

/* What the record says that is not so in memory; NULL: nothing. */
const char *storm_lie(const struct sampled *at, const struct sample_rec *rec);

void storm_count(struct storm_sum *sum, const struct sample_rec *rec);

/* Could a frame lie there? */
static inline bool is_place(uint64_t addr)
{
	return addr % 8 == 0 && addr >= 4096 && addr <= FRAME_ADDR_MASK;
}

#endif
