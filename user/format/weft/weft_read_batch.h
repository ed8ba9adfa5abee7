/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch of a recording, unpacked, into a profile. */
#ifndef WEFT_FORMAT_WEFT_WEFT_READ_BATCH_H
#define WEFT_FORMAT_WEFT_WEFT_READ_BATCH_H

#include "core/profile.h"

enum { BATCH_DAMAGED = 1 };

struct batch_reader {
	struct profile *profile;
	int64_t second; /* that the log is at */
	bool was_cut, is_complete;
};

/* 0; BATCH_DAMAGED: the rows before the damage are in; a negative errno. */
int batch_apply(struct batch_reader *batch, const void *bytes, size_t n);

#endif
