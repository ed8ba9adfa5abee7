// SPDX-License-Identifier: BSD-2-Clause
#include "base/blake3.h"

#include <string.h>

#define BLOCK_BYTES  64
#define CHUNK_BLOCKS (BLAKE3_CHUNK_BYTES / BLOCK_BYTES)
#define ROUNDS	     7

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

/* A word of four blocks that are compressed side by side. */
typedef uint32_t lanes __attribute__((vector_size(4 * BLAKE3_LANES)));

struct block {
	lanes words[16];
	lanes counter_low, counter_high, bytes, flags;
};

static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

/* Which word of the block goes where, round by round. */
static const uint8_t order[ROUNDS][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8 },
	{ 3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1 },
	{ 10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6 },
	{ 12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4 },
	{ 9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7 },
	{ 11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13 },
};

static inline lanes all(uint32_t value)
{
	return value - (lanes){ 0 };
}

#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))

#define MIX(a, b, c, d, x, y)                                                            \
	do {                                                                             \
		s[a] += s[b] + (x);                                                      \
		s[d] = ROTATE(s[d] ^ s[a], 16);                                          \
		s[c] += s[d];                                                            \
		s[b] = ROTATE(s[b] ^ s[c], 12);                                          \
		s[a] += s[b] + (y);                                                      \
		s[d] = ROTATE(s[d] ^ s[a], 8);                                           \
		s[c] += s[d];                                                            \
		s[b] = ROTATE(s[b] ^ s[c], 7);                                           \
	} while (0)

/* value: what came of the block before; of this one, afterwards. */
static void compress(lanes value[8], const struct block *block)
{
	const lanes *w = block->words;
	lanes s[16];

	for (int i = 0; i < 8; i++)
		s[i] = value[i];
	for (int i = 0; i < 4; i++)
		s[8 + i] = all(start[i]);
	s[12] = block->counter_low;
	s[13] = block->counter_high;
	s[14] = block->bytes;
	s[15] = block->flags;
#pragma GCC unroll 7
	for (int i = 0; i < ROUNDS; i++) {
		const uint8_t *at = order[i];

		MIX(0, 4, 8, 12, w[at[0]], w[at[1]]);
		MIX(1, 5, 9, 13, w[at[2]], w[at[3]]);
		MIX(2, 6, 10, 14, w[at[4]], w[at[5]]);
		MIX(3, 7, 11, 15, w[at[6]], w[at[7]]);
		MIX(0, 5, 10, 15, w[at[8]], w[at[9]]);
		MIX(1, 6, 11, 12, w[at[10]], w[at[11]]);
		MIX(2, 7, 8, 13, w[at[12]], w[at[13]]);
		MIX(3, 4, 9, 14, w[at[14]], w[at[15]]);
	}
	for (int i = 0; i < 8; i++)
		value[i] = s[i] ^ s[8 + i];
}

/* Each lane's block is `apart` bytes behind the one before. */
static void load(struct block *block, const uint8_t *bytes, size_t apart)
{
	for (int i = 0; i < 16; i++)
		for (int lane = 0; lane < BLAKE3_LANES; lane++) {
			uint32_t word;

			memcpy(&word, bytes + (size_t)lane * apart + 4 * (size_t)i,
			       sizeof(word));
			block->words[i][lane] = word;
		}
}

static void begin_value(lanes value[8])
{
	for (int i = 0; i < 8; i++)
		value[i] = all(start[i]);
}

static void take_lane(const lanes value[8], int lane, uint32_t ret[8])
{
	for (int i = 0; i < 8; i++)
		ret[i] = value[i][lane];
}

/* Whole chunks, side by side. */
static void hash_chunks(const uint8_t *bytes, uint64_t first, lanes value[8])
{
	struct block block = { .bytes = all(BLOCK_BYTES) };

	begin_value(value);
	for (int lane = 0; lane < BLAKE3_LANES; lane++) {
		block.counter_low[lane] = (uint32_t)(first + (uint64_t)lane);
		block.counter_high[lane] = (uint32_t)((first + (uint64_t)lane) >> 32);
	}
	for (int i = 0; i < CHUNK_BLOCKS; i++) {
		block.flags = all((i ? 0 : CHUNK_START) |
				  (i < CHUNK_BLOCKS - 1 ? 0 : CHUNK_END));
		load(&block, bytes + i * BLOCK_BYTES, BLAKE3_CHUNK_BYTES);
		compress(value, &block);
	}
}

/* Of the pairs of nodes that lie one behind the other, as many as there are lanes. */
static void hash_parents(const uint32_t (*nodes)[8], size_t apart, uint32_t flags,
			 lanes value[8])
{
	struct block block = {
		.bytes = all(BLOCK_BYTES),
		.flags = all(PARENT | flags),
	};

	begin_value(value);
	load(&block, (const uint8_t *)nodes, apart);
	compress(value, &block);
}

/* A subtree of 2^level chunks; with its like on the stack it is a larger one. */
static void push(struct blake3 *blake3, const uint32_t node[8], unsigned int level)
{
	uint64_t count = (blake3->n_chunks += 1ULL << level) >> level;
	lanes value[8];

	memcpy(blake3->roots[blake3->n_roots++], node, sizeof(blake3->roots[0]));
	for (; !(count & 1); count >>= 1) {
		blake3->n_roots -= 2;
		hash_parents((const uint32_t(*)[8])blake3->roots[blake3->n_roots], 0, 0,
			     value);
		take_lane(value, 0, blake3->roots[blake3->n_roots++]);
	}
}

/* As many chunks as there are lanes, of which more bytes follow. */
static void take_four(struct blake3 *blake3, const uint8_t *bytes)
{
	uint32_t nodes[2 * BLAKE3_LANES][8] = { 0 };
	lanes value[8];

	hash_chunks(bytes, blake3->n_chunks, value);
	for (int i = 0; i < BLAKE3_LANES; i++)
		take_lane(value, i, nodes[i]);
	hash_parents((const uint32_t(*)[8])nodes, 2 * sizeof(nodes[0]), 0, value);
	take_lane(value, 0, nodes[0]);
	take_lane(value, 1, nodes[1]);
	hash_parents((const uint32_t(*)[8])nodes, 0, 0, value);
	take_lane(value, 0, nodes[0]);
	push(blake3, nodes[0], 2);
}

void blake3_begin(struct blake3 *blake3)
{
	blake3->n_chunks = 0;
	blake3->n_roots = 0;
	blake3->n = 0;
}

void blake3_add(struct blake3 *blake3, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t some = sizeof(blake3->waiting) - blake3->n;

		if (!some) { /* what follows says that it is not the end */
			take_four(blake3, blake3->waiting);
			blake3->n = 0;
			continue;
		}
		if (!blake3->n && n > sizeof(blake3->waiting)) {
			take_four(blake3, from);
			from += sizeof(blake3->waiting);
			n -= sizeof(blake3->waiting);
			continue;
		}
		some = some < n ? some : n;
		memcpy(blake3->waiting + blake3->n, from, some);
		blake3->n += some;
		from += some;
		n -= some;
	}
}

/* The last chunk, which may be cut short or empty. */
static void hash_last(struct blake3 *blake3, const uint8_t *bytes, size_t n,
		      lanes value[8])
{
	struct block block = {
		.counter_low = all((uint32_t)blake3->n_chunks),
		.counter_high = all((uint32_t)(blake3->n_chunks >> 32)),
	};
	size_t at = 0;

	begin_value(value);
	do {
		size_t some = n - at < BLOCK_BYTES ? n - at : BLOCK_BYTES;
		uint8_t padded[BLOCK_BYTES] = { 0 };
		uint32_t flags = at ? 0 : CHUNK_START;

		if (at + some == n)
			flags |= CHUNK_END | (blake3->n_roots ? 0 : ROOT);
		memcpy(padded, bytes + at, some);
		block.bytes = all((uint32_t)some);
		block.flags = all(flags);
		load(&block, padded, 0);
		compress(value, &block);
		at += some;
	} while (at < n);
}

void blake3_end(struct blake3 *blake3, struct hash *ret)
{
	const uint8_t *at = blake3->waiting;
	uint32_t nodes[2][8];
	lanes value[8];

	if (blake3->n > BLAKE3_CHUNK_BYTES)
		hash_chunks(at, blake3->n_chunks, value);
	for (int lane = 0; blake3->n > BLAKE3_CHUNK_BYTES; lane++) {
		take_lane(value, lane, nodes[0]);
		push(blake3, nodes[0], 0);
		at += BLAKE3_CHUNK_BYTES;
		blake3->n -= BLAKE3_CHUNK_BYTES;
	}
	hash_last(blake3, at, blake3->n, value);
	while (blake3->n_roots) {
		memcpy(nodes[0], blake3->roots[--blake3->n_roots], sizeof(nodes[0]));
		take_lane(value, 0, nodes[1]);
		hash_parents((const uint32_t(*)[8])nodes, 0, blake3->n_roots ? 0 : ROOT,
			     value);
	}
	take_lane(value, 0, nodes[0]);
	memcpy(ret->bytes, nodes[0], sizeof(ret->bytes));
}

void blake3_of(const void *bytes, size_t n, struct hash *ret)
{
	struct blake3 blake3;

	blake3_begin(&blake3);
	blake3_add(&blake3, bytes, n);
	blake3_end(&blake3, ret);
}
