/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of several rings, each in its own order, until their time has come; out
 * come all of them by time, and those of one time as they went in. What lies far
 * in the future costs nothing while it waits.
 */
#ifndef WEFT_PIPELINE_QUEUE_H
#define WEFT_PIPELINE_QUEUE_H

#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct queued {
	uint64_t time_ns;
	uint64_t turn; /* how many went in before it */
	size_t at;     /* in bytes */
	uint32_t n;
	bool is_sample;
};

/* All zero: an empty one. */
struct queue {
	VEC(struct queued) heap; /* none is later than its children, 2i + 1 and 2i + 2 */
	uint64_t turns;
	struct str bytes; /* each event's, 8-byte aligned; the taken ones' too, a while */
	size_t taken;	  /* of them */
};

int queue_add(struct queue *queue, const void *bytes, size_t n, uint64_t time_ns,
	      bool is_sample);

/* The next event, if its time is not after the horizon; else NULL. Its bytes, too,
 * live until the queue changes. */
const struct queued *queue_next(const struct queue *queue, uint64_t horizon_ns,
				const void **ret_bytes);

int queue_drop_next(struct queue *queue);

void queue_free(struct queue *queue);

#endif
