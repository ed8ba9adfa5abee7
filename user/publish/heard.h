/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of the sideband that came since they were last applied. */
#ifndef WEFT_PUBLISH_HEARD_H
#define WEFT_PUBLISH_HEARD_H

#include "base/str.h"
#include "base/vec.h"
#include "proc/process.h"

struct heard_record {
	uint64_t time_ns;
	size_t at, n; /* among the bytes */
};

struct heard { /* {0} is an empty one */
	VEC(struct heard_record) records;
	struct str bytes;
};

int heard_add(struct heard *heard, const void *record, size_t bytes);
void heard_free(struct heard *heard);

/* All of them, in the order of their times, though they came CPU by CPU. */
int heard_apply(struct heard *heard, struct process_table *processes);

#endif
