/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose file is looked through next. Everybody may map as many files as he likes, so
 * owners take turns, one file each; of an owner's those go first that samples met.
 * A file may wait for several owners; who takes it skips what was taken already.
 */
#ifndef WEFT_PUBLISH_TURNS_H
#define WEFT_PUBLISH_TURNS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum turn { TURN_SAMPLED, TURN_MAPPED, N_TURNS };

struct turns;

int turns_new(struct turns **ret);
void turns_free(struct turns *turns); /* NULL is fine */
DEFINE_FREEP(turns)

/* Nothing if it waits there already. 0 or -ENOMEM. */
int turns_add(struct turns *turns, uid_t owner, uint32_t module, enum turn turn);

/* False: nobody waits. */
bool turns_next(struct turns *turns, uint32_t *ret_module);

#endif
