/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each user's samples may bring that is new. Whoever makes stacks by hand has new
 * callers in each sample, and weft goes through all that is new once more when a
 * recording ends. So a user may bring some new nodes of the profile's tree to begin with,
 * and a few more with each sample. Root may bring what there is room for.
 */
#ifndef WEFT_CORE_STACK_SHARES_H
#define WEFT_CORE_STACK_SHARES_H

#include "base/hmap.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

#define SHARE_NODES	     (512u << 10)
#define SHARE_NODES_A_SAMPLE 32

struct stack_share; /* of one user */

struct stack_shares { /* {0} is an empty one */
	struct hmap by_user;
};

void stack_shares_free(struct stack_shares *shares); /* what it holds */

/* A sample more of this user (SAMPLE_USER()). *ret: theirs, NULL: root's. 0 or
 * -ENOMEM. */
int stack_shares_begin(struct stack_shares *shares, uint32_t user,
		       struct stack_share **ret);

/* May it bring nothing that is new? */
bool stack_share_is_used_up(const struct stack_share *share);

/* It brought this stack of codes (core/aggregator.h). */
void stack_share_take(struct stack_share *share, const struct intern *stacks,
		      uint32_t stack);

#endif
