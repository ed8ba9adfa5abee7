// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A child is what its parent was: of a command's family, and with the same
 * async keys, from its first instruction on. User space would come to know a
 * few milliseconds later, and many children don't live that long. (perf's
 * inherited events would not do: each child's clock starts with a whole period
 * ahead and forgets it at the child's end, so who lives shorter than a period
 * is never sampled.)
 */
#include "incarnation.bpf.h"
#include "maps.bpf.h"

static __always_inline void inherit_keys(__u32 parent_tgid, struct task_struct *child,
					 __u32 child_tgid)
{
	struct process_info *known = bpf_map_lookup_elem(&processes, &parent_tgid);
	struct process_info copy;

	if (!known || !same_incarnation(known))
		return;
	copy = *known;
	copy.start_ticks = BPF_CORE_READ(child, start_boottime) / knobs.clock_tick_ns;
	bpf_map_update_elem(&processes, &child_tgid, &copy, BPF_ANY);
}

/* A pid that is used again must not match the filter for who had it before. */
static __always_inline void inherit_family(__u32 parent_tgid, __u32 child_tgid)
{
	__u8 yes = 1;

	if (bpf_map_lookup_elem(&filter_pids, &parent_tgid))
		bpf_map_update_elem(&filter_pids, &child_tgid, &yes, BPF_ANY);
	else if (bpf_map_lookup_elem(&filter_pids, &child_tgid))
		bpf_map_delete_elem(&filter_pids, &child_tgid);
}

/* Whoever begins now is not the one that was asked for by this number. */
static __always_inline void forget_filter_pid(__u32 pid)
{
	if (bpf_map_lookup_elem(&filter_pids, &pid))
		bpf_map_delete_elem(&filter_pids, &pid);
}

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0]; /* the current one */
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid);
	__u32 child_tgid = BPF_CORE_READ(child, tgid);

	if (knobs.filters & (FILTER_TGID | FILTER_TID) && !knobs.follow_forks)
		forget_filter_pid(BPF_CORE_READ(child, pid));
	if (parent_tgid == child_tgid) /* a thread */
		return 0;
	inherit_keys(parent_tgid, child, child_tgid);
	if (knobs.follow_forks)
		inherit_family(parent_tgid, child_tgid);
	return 0;
}

SEC("raw_tp/sched_process_free")
int process_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (BPF_CORE_READ(task, pid) != tgid)
		return 0;
	if (bpf_map_lookup_elem(&processes, &tgid))
		bpf_map_delete_elem(&processes, &tgid);
	if (knobs.follow_forks && bpf_map_lookup_elem(&filter_pids, &tgid))
		bpf_map_delete_elem(&filter_pids, &tgid);
	return 0;
}
