/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has ended, by time, so that forgetting them costs what they are and not what all
 * processes are. Most come in order.
 */
#ifndef WEFT_PROC_ENDED_H
#define WEFT_PROC_ENDED_H

#include "base/vec.h"

#include <stdint.h>

struct ended {
	uint64_t time_ns;
	uint32_t tgid, incarnation;
};

struct ended_queue { /* {0} is an empty one */
	VEC(struct ended) items;
	size_t first; /* those before it are gone */
};

int ended_add(struct ended_queue *queue, const struct ended *one); /* 0 or -ENOMEM */

/* The first, if it ended before then; it is there until one of the other two. */
const struct ended *ended_next(const struct ended_queue *queue, uint64_t before_ns);
void ended_drop(struct ended_queue *queue);

/* The first is to wait until a later time. */
void ended_put_off(struct ended_queue *queue, uint64_t time_ns);

void ended_free(struct ended_queue *queue);

#endif
