/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a pprof profile that a server finds too large: each has some of the samples,
 * in turn, and what they refer to. The parts' sums are the profile's. Ids are dense from
 * 1 in each; strings keep their numbers, and those that a part does not need are empty.
 */
#ifndef WEFT_DELIVER_PPROF_PART_H
#define WEFT_DELIVER_PPROF_PART_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_part {
	uint32_t part, parts; /* 0 of 2: the first half */
};

/* Not packed, both. *ret_samples: how many are in it. 0, -ENOMEM, or -EBADMSG: it is
 * not as weft writes them. */
int pprof_part(struct str *out, const struct str *whole, struct pprof_part which,
	       uint64_t *ret_samples);

#endif
