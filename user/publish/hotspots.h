/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JVMs among processes. Where one has its code (shared/hotspot.h) is read of its
 * memory once it has some, which is some milliseconds after it begins, and once more
 * later: one that starts may still move what it has.
 */
#ifndef WEFT_PUBLISH_HOTSPOTS_H
#define WEFT_PUBLISH_HOTSPOTS_H

#include "publish/publisher_parts.h"

/* A process is about to be published, in whose memory HOTSPOT_SYMBOL lies there; 0: it
 * has none. Whether ticks find its JVM, into process_info. True: that was not asked
 * before, and the process is to be published again once its turn has come. */
bool hotspots_find(struct publisher *p, const struct process *process,
		   struct process_entry *entry, uint64_t vm_structs,
		   struct process_info *process_info);

/* Is it to be read, now or later? */
static inline bool hotspot_is_awaited(const struct hotspot_state *state)
{
	return state->is == HOTSPOT_STARTS || state->is == HOTSPOT_YOUNG;
}

/* Is generated code there the JVM's, or may it be, as far as is known? */
bool hotspot_may_own(const struct hotspot_state *state, uint64_t addr);

/* The process ends, or runs something else now. */
void hotspots_forget(struct publisher *p, uint32_t tgid,
		     const struct process_entry *entry);

#endif
