/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of processes, by tgid: what user space published about them,
 * and whether they are wanted. Ticks only look these up; they change from user
 * space and at a fork (fork.bpf.c).
 */
#ifndef WEFT_PROCESS_BPF_H
#define WEFT_PROCESS_BPF_H

#include "compat.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PUBLISHED_MOST);
	__type(key, __u32); /* tgid */
	__type(value, struct published);
} processes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_PIDS_MOST); /* FAMILY_MOST for a command */
	__type(key, __u32);		       /* tgid or tid, as the filter says */
	__type(value, __u8);
} wanted_pids __weak SEC(".maps");

/* Is the current process still in the life that this was published for? */
static __always_inline bool same_life(const struct published *pub)
{
	__u64 start = CURRENT(group_leader->start_boottime, group_leader, start_boottime);

	return start / knobs.clock_tick_ns == pub->start_ticks &&
	       CURRENT(mm->start_stack, mm, start_stack) == pub->start_stack;
}

#endif
