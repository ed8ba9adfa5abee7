/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process context says that weft asks for (obj/process_context.h), by way of the
 * parser without privileges. */
#ifndef WEFT_RECORD_CONTEXT_VALUES_H
#define WEFT_RECORD_CONTEXT_VALUES_H

#include "base/resource.h"
#include "shared/thread_context.h"
#include "worker/worker.h"

/* Of threads' attributes, by index in the map that their process publishes. */
struct attribute_keys {
	unsigned int n;			 /* that it has */
	uint8_t allowed[ATTRIBUTE_KEYS]; /* the how-manieth of the names; 0: it is not */
};

struct context_values {
	struct resource resource;
	struct attribute_keys keys;
};

/* Of that payload. names: keys that are allowed, with commas; NULL: none. */
int context_values_ask(struct worker *worker, int fd, const char *names,
		       struct context_values *ret);

#endif
