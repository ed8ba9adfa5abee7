/* SPDX-License-Identifier: BSD-2-Clause */
/* What a profile says about the recording as a whole: where and how it was made,
 * and its ledger. */
#ifndef WEFT_RECORD_RUN_INFO_H
#define WEFT_RECORD_RUN_INFO_H

#include "core/profile.h"
#include "record/stats.h"

/* This machine and command, at its start; the duration comes with the ledger.
 * Returns the host's string through ret_host. */
int run_info_begin(struct profile *profile, const struct stats *stats,
		   uint64_t started_unix_ns, uint32_t *ret_host);

/* The ledger: "ledger.entered", "outcome.kept", "ending.start", "ticks.expected",
 * "samples.total" and the like; names as in --stats-json. */
int run_info_end(struct profile *profile, const struct stats *stats);

/* How far CLOCK_REALTIME is ahead of the clock of samples. */
uint64_t run_info_unix_offset_ns(void);

#endif
