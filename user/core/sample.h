/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample's record, checked: a tape may hold any bytes. */
#ifndef WEFT_CORE_SAMPLE_H
#define WEFT_CORE_SAMPLE_H

#include "shared/record.h"
#include "shared/thread_context.h"

#include <stddef.h>

/* A day: sums of as many samples as there can be don't overflow. */
#define SAMPLE_WEIGHT_MAX_NS 86400000000000ULL

/* Of its attributes, with the one that counts them; what that says was checked. */
static inline unsigned int sample_attributes_words(const struct sample_rec *rec)
{
	return rec->flags & SAMPLE_ATTRIBUTED
		       ? ATTRIBUTES_WORDS(ATTRIBUTES_BYTES(rec->words[rec->n_words - 1]))
		       : 0;
}

/* Words of its stacks: what lies behind them is a trace's ids, and attributes. */
static inline unsigned int sample_stack_words(const struct sample_rec *rec)
{
	return rec->n_words - sample_attributes_words(rec) -
	       (rec->flags & SAMPLE_TRACED ? TRACE_WORDS : 0U);
}

/* -EBADMSG: its counts don't fit its length, each other or its words. */
int sample_check(const struct sample_rec *rec, size_t bytes);

#endif
