// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The on-CPU tick. It says who ran and where, and gives it no meaning: names,
 * views and weights belong to user space.
 */
#include "emit.bpf.h"
#include "compat.bpf.h"
#include "context.bpf.h"
#include "orc.bpf.h"
#include "splice.bpf.h"
#include "uprobes.bpf.h"
#include "words.bpf.h"

const volatile struct knobs knobs = {};

/* What an on-CPU tick stands for. User space changes it while nothing ticks. */
unsigned long long tick_ns;

__u32 publications[PUBLICATIONS];

static __always_inline bool pid_matches(__u64 who)
{
	__u32 tgid = who >> 32, tid = who;

	if (knobs.filters & FILTER_TGID && bpf_map_lookup_elem(&filter_pids, &tgid))
		return true;
	return knobs.filters & FILTER_TID && bpf_map_lookup_elem(&filter_pids, &tid);
}

static __always_inline bool comm_matches(const struct sample_rec *rec)
{
	for (int i = 0; i < TASK_COMM_BYTES; i++) {
		if (rec->comm[i] != knobs.comm[i])
			return false;
		if (!rec->comm[i])
			break;
	}
	return true;
}

static __always_inline bool is_in_kernel(const struct bpf_perf_event_data *ctx)
{
	return regs_mode(&ctx->regs) == REGS_KERNEL;
}

static __always_inline bool filter_matches(struct sample_rec *rec, __u64 who,
					   const struct bpf_perf_event_data *ctx)
{
	if (knobs.filters & (FILTER_TGID | FILTER_TID) && !pid_matches(who))
		return false;
	if (knobs.filters & FILTER_KERNEL_ONLY && !is_in_kernel(ctx))
		return false;
	if (knobs.filters & FILTER_USER_ONLY && is_in_kernel(ctx))
		return false;
	if (knobs.filters & FILTER_CGROUP && !in_cgroup(knobs.cgroup_id))
		return false;
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	return !(knobs.filters & FILTER_COMM) || comm_matches(rec);
}

static __always_inline void begin_record(struct scratch *s, __u32 hook, __u64 who)
{
	__u32 uid = bpf_get_current_uid_gid();

	s->rec.ts_ns = bpf_ktime_get_ns();
	take_beginning(s);
	s->rec.hook = hook;
	s->rec.tgid = who >> 32;
	s->rec.tid = who;
	s->rec.cpu = bpf_get_smp_processor_id();
	s->rec.user = SAMPLE_USER(uid);
	s->rec.n_kernel = 0;
	s->rec.n_thread = 0;
	s->rec.ending = END_NO_USER;
	s->rec.flags = 0;
	s->in_syscall = 0;
	splice_begin(s);
}

#define KERNEL_STACK_BYTES (KERNEL_FRAMES_MAX * 8)

static __always_inline void take_kernel_stack(struct scratch *s,
					      struct bpf_perf_event_data *ctx)
{
	long bytes;

	s->rec.flags |= SAMPLE_IN_KERNEL;
	regs_copy(s, &ctx->regs);
	if (!orc_walk(HOOK_ONCPU)) {
		bytes = bpf_get_stack(ctx, s->words, KERNEL_STACK_BYTES, 0);
		s->n_words = bytes > 0 ? (__u64)bytes / 8 : 0;
	} else if (orc_is_checked(HOOK_ONCPU)) {
		bytes = bpf_get_stack(ctx, s->chunk, KERNEL_STACK_BYTES, 0);
		if (bytes > 0) /* else it could not be asked */
			orc_check(HOOK_ONCPU, bytes);
	}
	s->rec.n_kernel = s->n_words;
}

/* From the registers that were copied. */
static __always_inline void take_user_stack(struct scratch *s, __u32 hook)
{
	s->pc &= knobs.addr_mask & FRAME_ADDR_MASK;
	s->sp &= knobs.addr_mask;
	s->fp &= knobs.addr_mask;
	s->lr &= knobs.addr_mask;
	splice_user_stack(hook);
	if (wants_context() && (s->has_context || s->chains_context))
		context_add(hook);
}

/* The registers of its user mode; false: there is none to be walked. */
static __always_inline bool take_user_regs(struct scratch *s,
					   const bpf_user_pt_regs_t *regs)
{
	if (regs_mode(regs) == REGS_KERNEL)
		return false;
	if (regs_mode(regs) == REGS_USER_32BIT) {
		s->rec.ending = END_FOREIGN;
		return false;
	}
	regs_copy(s, regs);
	return true;
}

/* verifier: where chunks will lie, since seven calls have 512 bytes of stack together */
struct saved {
	bpf_user_pt_regs_t regs;
	__u64 pushed[UPROBES_PUSHED], room[UPROBES_PUSHED];
};

/* Registers as they were before the kernel did what a uprobe asks for. */
static __always_inline void undo_probe(struct saved *saved)
{
	if (!HAS_UPROBES || !regs_pushed(&saved->regs, saved->pushed) ||
	    !BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), utask))
		return;
	if (uprobes_are_pushed(saved->pushed, saved->regs.sp, saved->room))
		saved->regs.sp += sizeof(saved->pushed);
	else
		regs_back_to_breakpoint(&saved->regs);
}

static __always_inline bool take_saved_user_regs(struct scratch *s)
{
	struct saved *saved = (void *)s->chunk;
	enum in_syscall in_syscall = IN_NO_SYSCALL;

	_Static_assert(sizeof(*saved) <= sizeof(s->chunk), "fits");
	if (!saved_user_regs(&saved->regs, &in_syscall))
		return false;
	s->in_syscall = in_syscall;
	undo_probe(saved);
	return take_user_regs(s, &saved->regs);
}

SEC("perf_event")
int oncpu_tick(struct bpf_perf_event_data *ctx)
{
	__u64 who = bpf_get_current_pid_tgid();
	struct scratch *s = scratch(HOOK_ONCPU);
	bool has_user;
	int kept;

	emit_entered(HOOK_ONCPU);
	if (!(__u32)who) /* nobody to charge */
		return emit_outcome(HOOK_ONCPU, OUTCOME_IDLE);
	if (!s)
		return emit_outcome(HOOK_ONCPU, OUTCOME_NO_SCRATCH);
	if (!filter_matches(&s->rec, who, ctx))
		return emit_outcome(HOOK_ONCPU, OUTCOME_FILTERED);

	begin_record(s, HOOK_ONCPU, who);
	s->rec.weight_ns = tick_ns;
	/* verifier: asked no earlier, or all until here would be followed twice */
	if (!is_in_kernel(ctx)) {
		has_user = take_user_regs(s, &ctx->regs);
	} else {
		take_kernel_stack(s, ctx);
		has_user = take_saved_user_regs(s);
	}
	if (has_user)
		take_user_stack(s, HOOK_ONCPU);
	kept = emit_record(HOOK_ONCPU);
	if (knobs.timed)
		emit_busy(HOOK_ONCPU);
	/* not 0: the kernel writes a sample of its own, too */
	return knobs.faults & KERNEL_SAMPLES_TOO ? kept : 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
