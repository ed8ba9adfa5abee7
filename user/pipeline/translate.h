/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample's words into a stack's codes: addresses become frames. */
#ifndef WEFT_PIPELINE_TRANSLATE_H
#define WEFT_PIPELINE_TRANSLATE_H

#include "core/aggregator.h"
#include "proc/process.h"

struct translator;

int translator_new(struct translator **ret, struct aggregator *aggregator);
void translator_free(struct translator *translator);
DEFINE_FREEP(translator)

/* rec was checked. process: NULL when nothing is known of it. */
int translate_sample(struct translator *translator, const struct sample_rec *rec,
		     const struct process *process);

#endif
