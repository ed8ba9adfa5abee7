/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives each distinct pair of 32-bit numbers a small dense number, from 0 in
 * order of first sight: edges of a tree, a stack and its thread. 8 bytes a pair
 * and as much again for finding it. Nothing is removed. One thread.
 */
#ifndef WEFT_BASE_PAIRS_H
#define WEFT_BASE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint32_t a, b;
};

struct pairs { /* {0} is empty */
	struct pair *items;
	size_t n, room;
	uint32_t *slots; /* id + 1, 0 = free */
	size_t mask;
};

enum { PAIRS_FULL = 1 };

/* 0, -ENOMEM, or PAIRS_FULL when `most` are there and this is none of them. */
int pairs_id(struct pairs *pairs, struct pair pair, size_t most, uint32_t *ret_id);
void pairs_free(struct pairs *pairs); /* what it holds, not itself */

#endif
