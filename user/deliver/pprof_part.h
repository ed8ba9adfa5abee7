/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a pprof profile that a server finds too large: each has some of the samples,
 * in turn, and what they refer to. The parts' sums are the profile's. Ids are dense from
 * 1 in each; strings keep their numbers, and those that a part does not need are empty.
 */
#ifndef WEFT_DELIVER_PPROF_PART_H
#define WEFT_DELIVER_PPROF_PART_H

#include "base/proto.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_part {
	uint32_t part, parts; /* 0 of 2: the first half */
};

/* Those of a series, without the labels that say so (split.h). */
struct pprof_pick {
	const uint32_t *series_of; /* by sample */
	size_t n_samples;
	uint32_t series;
	const bool *is_key; /* by number of string: a label that is left out */
	size_t n_strings;
};

bool pprof_pick_has(const struct pprof_pick *pick, uint64_t sample);
/* A label of a sample. */
bool pprof_pick_drops(const struct pprof_pick *pick, const struct proto_field *label);

int pprof_pick(struct str *out, const struct str *whole, const struct pprof_pick *pick);

/* Not packed, both. *ret_samples: how many are in it. 0, -ENOMEM, or -EBADMSG: it is
 * not as weft writes them. */
int pprof_part(struct str *out, const struct str *whole, struct pprof_part which,
	       uint64_t *ret_samples);

#endif
