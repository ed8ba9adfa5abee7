/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which incarnation of a process something is published for. */
#ifndef WEFT_INCARNATION_BPF_H
#define WEFT_INCARNATION_BPF_H

#include "compat.bpf.h"

struct incarnation {
	__u64 start_ticks, start_stack; /* 0: nobody's */
};

/* Of what was told of a fork or an exec user space knows when, and the life that
 * contains this moment is whose it is. */
static __always_inline struct incarnation incarnation_of(const struct process_info *pub,
							 __u32 tgid)
{
	struct incarnation of = { pub->start_ticks, pub->start_stack };
	const struct life *life;

	if (of.start_ticks)
		return of;
	life = bpf_map_lookup_elem(&lives, &tgid);
	if (life && pub->told_ns > life->after_ns && pub->told_ns <= life->until_ns) {
		of.start_ticks = life->start_ticks;
		of.start_stack = life->start_stack;
	}
	return of;
}

/* Is a process that began then still the incarnation that this was published for? */
static __always_inline bool same_incarnation(struct incarnation of, __u64 start_boottime,
					     __u64 start_stack)
{
	return start_boottime / knobs.clock_tick_ns == of.start_ticks &&
	       start_stack == of.start_stack;
}

#endif
