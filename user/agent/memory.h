/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the agent's memory within its budget: near it names are let go, then no new ones
 * are looked for until there is room again. */
#ifndef WEFT_AGENT_MEMORY_H
#define WEFT_AGENT_MEMORY_H

#include "agent/budget.h"
#include "agent/naming.h"

struct memory { /* {0} at first */
	uint64_t helper_bytes, helpers_due_ns;
};

/* Once a second. True: names were let go. */
bool memory_keep(struct memory *memory, struct budget *budget, struct naming *naming,
		 uint64_t now_ns);

#endif
