/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service's data: made-up users in memory, found by number and ranked by
 * what they bought.
 */
#ifndef DEMO_STORE_H
#define DEMO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USERS 20000

struct user {
	uint32_t number; /* 1 to USERS */
	uint32_t visits;
	uint32_t cents; /* spent */
	char name[20];
	const char *city;
};

struct store {
	struct user users[USERS];	/* in no order */
	uint32_t slots[2 * USERS];	/* hash of number -> 1 + index; 0 = free */
	const struct user *best[USERS]; /* most spent first, as of store_rank() */
};

struct store *store_new(void); /* NULL: no memory; free() ends it */

/* Borrowed from the store; NULL: no such user. Counts the visit. */
const struct user *store_find(struct store *store, uint32_t number);

void store_rank(struct store *store);

#endif
