/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many readings as one: what is alike becomes one, sums add up. Associative: how
 * they were grouped before makes no difference.
 */
#ifndef WEFT_CORE_MERGE_H
#define WEFT_CORE_MERGE_H

#include "core/reading.h"

/* Into a reading that was filled by this alone; _finish() it at the end.
 * -EINVAL: they count different things. */
int reading_merge(struct reading *into, const struct reading *from);

#endif
