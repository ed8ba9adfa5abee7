/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of our parsers' time each user may have. What a file costs to read its maker
 * chooses, and everybody may have as many files as he likes. So each user has an
 * account: a few seconds, filled again by a little a second, emptied by the CPU time that
 * his files take. While it is empty they are read when nobody else's wait. Root has none.
 */
#ifndef WEFT_SYM_BUDGETS_H
#define WEFT_SYM_BUDGETS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one user; what all of a machine maps took 0.4 s. */
#define BUDGET_NS     5000000000LL
#define BUDGET_REFILL 20 /* a 20th of a CPU */

struct budgets;

int budgets_new(struct budgets **ret);
void budgets_free(struct budgets *budgets); /* NULL is fine */
DEFINE_FREEP(budgets)

/* His files took so long. */
void budgets_charge(struct budgets *budgets, uid_t uid, uint64_t ns, uint64_t now_ns);

/* Is it used up? */
bool budgets_are_over(const struct budgets *budgets, uid_t uid, uint64_t now_ns);

/* What is missing in his account: who has used more goes later. */
uint64_t budgets_used_ns(const struct budgets *budgets, uid_t uid, uint64_t now_ns);

#endif
