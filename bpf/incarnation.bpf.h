/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which incarnation of a process something is published for. */
#ifndef WEFT_INCARNATION_BPF_H
#define WEFT_INCARNATION_BPF_H

#include "compat.bpf.h"

/* Is the current process still the incarnation that this was published for? */
static __always_inline bool same_incarnation(const struct process_info *pub)
{
	__u64 start = CURRENT(group_leader->start_boottime, group_leader, start_boottime);

	return start / knobs.clock_tick_ns == pub->start_ticks &&
	       CURRENT(mm->start_stack, mm, start_stack) == pub->start_stack;
}

#endif
