/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose sideband records matter: everyone's, or some processes'. The kernel
 * reports all of them; what the samples can't be about is dropped at the door,
 * and its files are never opened.
 */
#ifndef WEFT_RECORD_SIDEBAND_FILTER_H
#define WEFT_RECORD_SIDEBAND_FILTER_H

#include "base/hmap.h"
#include "core/event.h"

#include <stdbool.h>
#include <sys/types.h>

struct sideband_filter {
	bool everyone;
	struct hmap tgids;
	struct event_sink next;
};

int sideband_filter_add(struct sideband_filter *filter, pid_t tgid);
void sideband_filter_free(struct sideband_filter *filter);

/* Hands on to filter->next what is of these. */
struct event_sink sideband_filter_input(struct sideband_filter *filter);

#endif
