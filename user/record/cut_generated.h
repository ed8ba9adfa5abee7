/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples that are cut in generated code. Mostly it keeps no frame pointers, and there is
 * no call frame information of it either; some runtimes keep them if they are asked to.
 */
#ifndef WEFT_RECORD_CUT_GENERATED_H
#define WEFT_RECORD_CUT_GENERATED_H

#include "record/name_ledger.h"

struct cut_generated {
	uint64_t samples; /* whose thread view begins in generated code, behind a cut */
	/* What would make most of them whole (record/runtimes.h). NULL: nothing, or their
	 * process was asked already. */
	const char *asked;
};

/* Of the profile; 0 or -ENOMEM. */
int cut_generated_count(struct cut_generated *ret,
			const struct name_ledger_source *source);

#endif
