/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many profiles as one: what is alike becomes one, sums add up. Associative: how
 * they were grouped before makes no difference.
 */
#ifndef WEFT_CORE_MERGE_H
#define WEFT_CORE_MERGE_H

#include "core/profile.h"

/* Into a profile that was filled by this alone; _finish() it at the end.
 * -EINVAL: they count different things. */
int profile_merge(struct profile *into, const struct profile *from);

#endif
