/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BLAKE3, the hash: nobody can make two inputs with one result. It takes bytes
 * piece by piece and four of its chunks at a time, in the vectors that each of our
 * machines has.
 *
 * As of "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves,
 * Wilcox-O'Hearn, 2020), section 2.
 */
#ifndef WEFT_BASE_BLAKE3_H
#define WEFT_BASE_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE3_LANES	   4
#define BLAKE3_CHUNK_BYTES 1024
#define BLAKE3_LEVELS	   54 /* of the tree above 2^64 bytes' chunks */

struct hash {
	uint8_t bytes[32];
};

struct blake3 {
	uint64_t n_chunks; /* of whose subtrees the stack has the roots */
	unsigned int n_roots;
	size_t n; /* bytes that wait */
	uint32_t roots[BLAKE3_LEVELS][8];
	uint8_t waiting[BLAKE3_LANES * BLAKE3_CHUNK_BYTES];
};

void blake3_begin(struct blake3 *blake3);
void blake3_add(struct blake3 *blake3, const void *bytes, size_t n);
void blake3_end(struct blake3 *blake3, struct hash *ret);

/* All at once. */
void blake3_of(const void *bytes, size_t n, struct hash *ret);

#endif
