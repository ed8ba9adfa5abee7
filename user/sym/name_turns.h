/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose file is named next, and how long that may take. Everybody may have as many files
 * as he likes that take as long as we allow, and whoever records waits for the end. So
 * the users of a machine share one budget of time: who has used least of it goes next,
 * and no file gets more than a part of what is left, so nobody can use it up alone. Files
 * of root are named first, and outside of this.
 */
#ifndef WEFT_SYM_NAME_TURNS_H
#define WEFT_SYM_NAME_TURNS_H

#include "base/cleanup.h"
#include "sym/budgets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NAME_TURN_MS 5000 /* of one file at most */

struct name_turns;

/* others_ms: for all who are not root. */
int name_turns_new(struct name_turns **ret, int others_ms);
void name_turns_free(struct name_turns *turns); /* NULL is fine */
DEFINE_FREEP(name_turns)

/* What they took before counts, too; before any file of theirs is added. Borrowed. */
void name_turns_set_budgets(struct name_turns *turns, struct budgets *budgets);

/* A file of this user waits; what: any number. All are added before the first turn. */
int name_turns_add(struct name_turns *turns, uid_t owner, size_t what);

/* The next one, which may take so long; 0 ms: no time is left for it. False: no more. */
bool name_turns_next(struct name_turns *turns, size_t *ret_what, int *ret_ms);

/* It took so long. */
void name_turns_took(struct name_turns *turns, uint64_t ns);

/* All together, of those who are not root. */
uint64_t name_turns_others_ns(const struct name_turns *turns);

#endif
