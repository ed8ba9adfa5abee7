/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a recording reads in /proc what the sideband does not tell. */
#ifndef WEFT_RECORD_RECORDING_LOOK_H
#define WEFT_RECORD_RECORDING_LOOK_H

#include "record/recording_parts.h"

/* Processes what is due; see pipeline_advance(). */
int recording_advance(struct recording *recording, uint64_t horizon_ns);

/* Before the first tick: who runs, and the program that a command will be. Waits for the
 * tables of their files. */
int recording_look_first(struct recording *recording);

/* What was not told is read again. lost: something was, just now. */
int recording_look_again(struct recording *recording, bool lost);

/* Processes that were sampled where nothing is known, or that there was no time for; as
 * many as the rings can wait for. */
int recording_look_at_unread(struct recording *recording);

#endif
