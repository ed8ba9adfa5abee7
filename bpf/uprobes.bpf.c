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

enum { UPROBES_FOUND = 1, UPROBES_NOT_IT };

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

/* Looks at one of the list, which is in s->word; 0: it is not found, and none is left.
 * verifier: a function, since a loop calls it */
__noinline int uprobes_look_at_return(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const struct return_instance *at;

	if (!s || !HAS_UPROBES || !s->word)
		return 0;
	at = (const void *)s->word;
	if (!was_entered(s, BPF_CORE_READ(at, stack))) {
		s->word = (__u64)BPF_CORE_READ(at, next);
		return UPROBES_NOT_IT;
	}
	s->pc = BPF_CORE_READ(at, orig_ret_vaddr) & knobs.addr_mask;
	return UPROBES_FOUND;
}

static __always_inline int find_caller(struct scratch *s, __u32 hook,
				       const struct uprobe_task *of)
{
	int is = UPROBES_NOT_IT;

	s->word = (__u64)BPF_CORE_READ(of, return_instances);
	for (int i = 0; i < RETURNS_MAX && is == UPROBES_NOT_IT; i++)
		is = uprobes_look_at_return(hook);
	return is == UPROBES_FOUND;
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
	return s->pc == s->uretprobe ? find_caller(s, hook, of) : 0;
}
