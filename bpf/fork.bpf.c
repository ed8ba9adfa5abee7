// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The beginnings and ends of processes.
 *
 * A child is what its parent was: of a command's family, and with the same
 * async keys, from its first instruction on. User space would come to know a
 * few milliseconds later, and many children don't live that long. (perf's
 * inherited events would not do: each child's clock starts with a whole period
 * ahead and forgets it at the child's end, so who lives shorter than a period
 * is never sampled.)
 */
#include "incarnation.bpf.h"
#include "maps.bpf.h"

static __always_inline void inherit_keys(struct task_struct *parent, __u32 parent_tgid,
					 struct task_struct *child, __u32 child_tgid)
{
	struct process_info *known = bpf_map_lookup_elem(&processes, &parent_tgid);
	struct process_info copy;
	struct incarnation of;

	if (!known)
		return;
	of = incarnation_of(known, parent_tgid);
	if (!same_incarnation(of, BPF_CORE_READ(parent, group_leader, start_boottime),
			      BPF_CORE_READ(parent, mm, start_stack)))
		return;
	copy = *known;
	copy.start_stack = of.start_stack;
	copy.told_ns = BPF_CORE_READ(child, start_time);
	copy.start_ticks = BPF_CORE_READ(child, start_boottime) / knobs.clock_tick_ns;
	bpf_map_update_elem(&processes, &child_tgid, &copy, BPF_ANY);
	publication_count(child_tgid);
}

/*
 * perf tells of a fork and of an exec a moment before these run, after whatever it told
 * of the life before. So the moment that user space knows from perf says which life it
 * means, and nobody has to read /proc for that.
 */
static __always_inline void begin_life(struct task_struct *leader, __u32 tgid,
				       __u64 after_ns)
{
	struct life life = {
		.after_ns = after_ns,
		.until_ns = bpf_ktime_get_ns(),
		.start_ticks =
			BPF_CORE_READ(leader, start_boottime) / knobs.clock_tick_ns,
		.start_stack = BPF_CORE_READ(leader, mm, start_stack),
	};

	bpf_map_update_elem(&lives, &tgid, &life, BPF_ANY);
	publication_count(tgid);
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
	begin_life(child, child_tgid, BPF_CORE_READ(child, start_time));
	inherit_keys(parent, parent_tgid, child, child_tgid);
	if (knobs.follow_forks)
		inherit_family(parent_tgid, child_tgid);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0]; /* its group's leader by now */
	__u32 tgid = BPF_CORE_READ(task, tgid);
	const struct life *before = bpf_map_lookup_elem(&lives, &tgid);
	__u64 after_ns = before ? before->until_ns : BPF_CORE_READ(task, start_time);
	const struct process_info *known = bpf_map_lookup_elem(&processes, &tgid);

	if (!(knobs.faults & FAULT_NO_IDENTITY) && known && known->told_ns &&
	    known->told_ns <= after_ns)
		bpf_map_delete_elem(&processes, &tgid);
	begin_life(task, tgid, after_ns);
	return 0;
}

SEC("raw_tp/sched_process_free")
int process_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (BPF_CORE_READ(task, pid) != tgid)
		return 0;
	if (bpf_map_lookup_elem(&processes, &tgid)) {
		bpf_map_delete_elem(&processes, &tgid);
		publication_count(tgid);
	}
	bpf_map_delete_elem(&lives, &tgid);
	if (knobs.follow_forks && bpf_map_lookup_elem(&filter_pids, &tgid))
		bpf_map_delete_elem(&filter_pids, &tgid);
	return 0;
}
