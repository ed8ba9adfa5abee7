// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who waits for a function's return by a uretprobe (bpftrace, tracers of TLS libraries)
 * has the kernel write over its return address: it returns to a trampoline in [uprobes],
 * and the kernel knows where it would have. It keeps that in a list of the task's, newest
 * first, with the stack pointer that the function was entered with.
 */
#include "compat.bpf.h"
#include "uretprobe.bpf.h"

#define RETURNS_MAX 32 /* that are looked through; the kernel has 64 at most */

/* Where functions of the current task return to that are waited for; 0: there are none. */
static __always_inline __u64 find_trampoline(const struct uprobe_task *of)
{
	if (!of || !BPF_CORE_READ(of, return_instances))
		return 0;
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm,
			     uprobes_state.xol_area, vaddr);
}

/* Was the function that returns there entered with this stack? The frame that it had
 * ends there; a frame record does not say where, but it lies below. */
static __always_inline bool was_entered(const struct scratch *s, __u64 stack)
{
	if (FP_GIVES_SP)
		return stack == s->sp - 8;
	return stack - s->sp <= (s->sp_is_least ? SAME_STACK_BYTES : 0);
}

int uretprobe_leave(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const struct return_instance *at;
	const struct uprobe_task *of;

	if (!s || !HAS_URETPROBES || s->on_waiting_thread || !s->uretprobe)
		return 0;
	of = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), utask);
	if (s->uretprobe == URETPROBE_UNKNOWN)
		s->uretprobe = find_trampoline(of);
	if (s->pc != s->uretprobe)
		return 0;
	at = BPF_CORE_READ(of, return_instances);
	for (int i = 0; at && i < RETURNS_MAX; i++) {
		if (was_entered(s, BPF_CORE_READ(at, stack))) {
			s->pc = BPF_CORE_READ(at, orig_ret_vaddr) & knobs.addr_mask;
			return 1;
		}
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}
