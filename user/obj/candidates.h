/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch of addresses that want names, and for each the best symbol met so
 * far while a table of any size passes by once. Memory depends on the batch
 * alone. A symbol with a size covers just that; one without (assembly) only
 * what follows it up to the next symbol, and only where none covers.
 */
#ifndef WEFT_OBJ_CANDIDATES_H
#define WEFT_OBJ_CANDIDATES_H

#include "obj/symbol_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct candidate {
	uint64_t order; /* greater wins; */
	uint64_t rank;	/* among equals, greater wins; then the one met first */
	uint64_t start;
	uint64_t end;  /* one past what it covers or may cover; 0 = no candidate */
	uint64_t name; /* where the caller finds the name */
	enum symbol_start kind; /* START_FUNCTION of one with a size */
	bool sized;
};

struct query {
	uint64_t addr;
	size_t index; /* the caller's */
	struct candidate covering;
	/* start after the query before, not after addr */
	struct candidate below[N_SYMBOL_STARTS];
};

struct candidates { /* {0} is an empty batch */
	struct query *items;
	size_t n, room;
	size_t *index; /* of the first item of each section of the addresses */
	unsigned int section_bits;
	uint64_t work; /* comparisons, bounded */
};

#define AUTO_CANDIDATES __attribute__((cleanup(candidates_free))) struct candidates

int candidates_new(struct candidates *batch, size_t room);
void candidates_free(struct candidates *batch);

void candidates_add(struct candidates *batch, uint64_t addr, size_t index);
void candidates_sort(struct candidates *batch); /* after the last add */

/* Would a symbol without size that starts here, a function or a label of either kind,
 * be the nearest below one? */
bool candidates_near(const struct candidates *batch, uint64_t start, bool label);

/* Offers a symbol with a size to all that it covers. */
void candidates_cover(struct candidates *batch, const struct candidate *symbol);

/* Offers a start: of a symbol without size, or (sized) one that ends the reach
 * of those before it. Is any query from there up to its end? Else the name of a symbol
 * with a size needs no look. */
bool candidates_below(struct candidates *batch, const struct candidate *symbol);

/* After the pass: the best for items[i], or NULL. Ask for i in rising order,
 * leaving out none. */
const struct candidate *candidates_best(struct candidates *batch, size_t i);

/* Behind that: the nearest one without size of that kind, if it may go up to items[i];
 * else NULL. */
const struct candidate *candidates_start(const struct candidates *batch, size_t i,
					 enum symbol_start kind);

/*
 * Rank among names of one place. A file's own (local) name comes last; then
 * counts how many underscores lead, as in read, __read, __libc_read: users
 * know the plain one; then a global name goes before a weak one, and a short
 * before a long, as in fopen, fopen64.
 */
uint64_t name_rank(const char *name, size_t n, bool local, bool weak);

#endif
