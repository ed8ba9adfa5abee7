// SPDX-License-Identifier: BSD-2-Clause
#include "kern/ledger.h"

#include <stddef.h>

typedef unsigned long long count;

#define N_COUNTS (sizeof(struct ledger) / sizeof(count))

_Static_assert(sizeof(struct ledger) % sizeof(count) == 0, "a ledger has counts only");

/* As one row, so that no field can be forgotten that comes to be. */
static const count *row_of(const struct ledger *ledger)
{
	return (const count *)(const void *)ledger;
}

void ledger_add(struct ledger *sum, const struct ledger *one)
{
	count *to = (count *)(void *)sum;

	for (size_t i = 0; i < N_COUNTS; i++)
		to[i] += row_of(one)[i];
}

struct ledger ledger_since(const struct ledger *now, const struct ledger *before)
{
	struct ledger ret = *now;
	count *to = (count *)(void *)&ret;

	for (size_t i = 0; i < N_COUNTS; i++)
		to[i] -= row_of(before)[i];
	return ret;
}
