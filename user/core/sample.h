/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample's record, checked: a tape may hold any bytes. */
#ifndef WEFT_CORE_SAMPLE_H
#define WEFT_CORE_SAMPLE_H

#include "shared/record.h"
#include "shared/thread_context.h"

#include <stddef.h>

/* A day: sums of as many samples as there can be don't overflow. */
#define SAMPLE_WEIGHT_MAX_NS 86400000000000ULL

/* Words of its stacks: what a traced one has behind them is none. */
static inline unsigned int sample_stack_words(const struct sample_rec *rec)
{
	return rec->n_words - (rec->flags & SAMPLE_TRACED ? TRACE_WORDS : 0U);
}

/* -EBADMSG: its counts don't fit its length, each other or its words. */
int sample_check(const struct sample_rec *rec, size_t bytes);

#endif
