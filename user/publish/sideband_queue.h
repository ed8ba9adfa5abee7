/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of the sideband that came since they were last applied. */
#ifndef WEFT_PUBLISH_SIDEBAND_QUEUE_H
#define WEFT_PUBLISH_SIDEBAND_QUEUE_H

#include "base/hmap.h"
#include "base/str.h"
#include "base/vec.h"
#include "proc/ended.h"
#include "proc/process.h"

struct sideband_record {
	uint64_t time_ns;
	size_t at, n; /* among the bytes */
};

struct sideband_queue { /* {0} is an empty one */
	VEC(struct sideband_record) records;
	struct str bytes;
	struct hmap ends;	  /* of processes that ended a moment ago: when, by pid */
	struct ended_queue ended; /* the same, by time */
};

int sideband_queue_add(struct sideband_queue *queue, const void *record, size_t bytes);
void sideband_queue_free(struct sideband_queue *queue);

/*
 * All of them, in the order of their times, though they came CPU by CPU. What comes later
 * than that of a process whose end has come already is not applied: it would be there
 * for good.
 */
int sideband_queue_apply(struct sideband_queue *queue, struct process_table *processes);

#endif
