/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose file is looked through next. Everybody may map as many files as he likes, so
 * owners take turns, one file each; of an owner's those go first that samples met.
 * Whose budget is used up goes behind all others, and alone.
 * A file may wait for several owners; who takes it skips what was taken already.
 */
#ifndef WEFT_PUBLISH_TURNS_H
#define WEFT_PUBLISH_TURNS_H

#include "base/cleanup.h"
#include "sym/budgets.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum turn { TURN_SAMPLED, TURN_MAPPED, N_TURNS };

struct turns;

/* budgets: NULL, or borrowed. */
int turns_new(struct turns **ret, const struct budgets *budgets);
void turns_free(struct turns *turns); /* NULL is fine */
DEFINE_FREEP(turns)

/* Nothing if it waits there already. 0 or -ENOMEM. */
int turns_add(struct turns *turns, uid_t owner, uint32_t module, enum turn turn);

/* Before, root goes first, for whose files a start waits the longest. */
void turns_start(struct turns *turns);

struct turn_taken {
	uint32_t module;
	uid_t owner;
	bool is_over_budget;
};

/* False: nobody waits whose turn it can be. is_idle: nothing else is being read. */
bool turns_next(struct turns *turns, uint64_t now_ns, bool is_idle,
		struct turn_taken *ret);

#endif
