// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel has code of its own in a process that is probed, [uprobes].
 *
 * Who waits for a function's return by a uretprobe (bpftrace, tracers of TLS libraries)
 * has it write over the function's return address: that returns to a trampoline there,
 * and the kernel knows where it would have. It keeps that in a list of the task's, newest
 * first, with the stack pointer that the function was entered with.
 *
 * An instruction that a breakpoint was put on is executed there.
 */
#include "compat.bpf.h"
#include "uprobes.bpf.h"

#define RETURNS_MAX 32 /* that are looked through; the kernel has 64 at most */
#define INSN_MAX    16 /* bytes, with what brings it back to the kernel */

/* Where functions of the current task return to that are waited for; 0: none is. */
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

static __always_inline int find_caller(struct scratch *s, const struct uprobe_task *of)
{
	const struct return_instance *at = BPF_CORE_READ(of, return_instances);

	int i;

	for (i = 0; at && i < RETURNS_MAX; i++) {
		if (was_entered(s, BPF_CORE_READ(at, stack)))
			break;
		at = BPF_CORE_READ(at, next);
	}
	if (!at || i >= RETURNS_MAX)
		return 0;
	s->pc = BPF_CORE_READ(at, orig_ret_vaddr) & knobs.addr_mask;
	return 1;
}

static __always_inline int find_probed(struct scratch *s, const struct uprobe_task *of)
{
	__u64 done = s->pc - BPF_CORE_READ(of, xol_vaddr);

	if (done >= INSN_MAX || !BPF_CORE_READ(of, active_uprobe))
		return 0;
	s->pc = BPF_CORE_READ(of, vaddr) + done;
	return 1;
}

int uprobes_find_pc(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const struct uprobe_task *of;

	if (!s || !HAS_UPROBES || s->on_waiting_thread || !s->uretprobe)
		return 0;
	of = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), utask);
	if (of && s->is_leaf)
		return find_probed(s, of);
	if (s->uretprobe == UPROBES_UNKNOWN)
		s->uretprobe = find_trampoline(of);
	return s->pc == s->uretprobe ? find_caller(s, of) : 0;
}
