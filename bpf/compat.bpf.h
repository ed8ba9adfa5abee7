/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where kernels and machines differ. Only this file names kernel versions; what
 * a kernel lacks is asked at load time, so the other branch is dead code that
 * the verifier never sees.
 */
#ifndef WEFT_COMPAT_BPF_H
#define WEFT_COMPAT_BPF_H

#include "maps.bpf.h"

/* include/linux/sched.h */
#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD   0x00200000

/* From 5.11 on the kernel gives the current task as a pointer whose type it knows. */
#define HAS_TYPED_TASK                                                                   \
	bpf_core_enum_value_exists(enum bpf_func_id___weft,                              \
				   BPF_FUNC_get_current_task_btf___weft)

/*
 * What lies that way from the current task: CURRENT(mm->start_stack, mm, start_stack).
 * Plain loads where the pointer has a type, else a helper's call for each arrow, some
 * 30 ns; behind a null pointer lies 0 either way.
 */
#define CURRENT(path, ...)                                                               \
	(HAS_TYPED_TASK ? bpf_get_current_task_btf()->path                               \
			: BPF_CORE_READ((struct task_struct *)bpf_get_current_task(),    \
					__VA_ARGS__))

/* What the kernel knows of the current task's memory; 0 where it has none. */
struct own_memory {
	__u64 mm, start_stack, exec_vm;
};

/* All of it at once: for each pointer with a type that is followed, verifiers since 6.2
 * search the kernel's types by name, 1 ms each. */
static __always_inline struct own_memory own_memory(void)
{
	const struct mm_struct *mm;

	if (HAS_TYPED_TASK) {
		mm = bpf_get_current_task_btf()->mm;
		return (struct own_memory){ (__u64)mm, mm->start_stack, mm->exec_vm };
	}
	mm = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm);
	return (struct own_memory){ (__u64)mm, BPF_CORE_READ(mm, start_stack),
				    BPF_CORE_READ(mm, exec_vm) };
}

/* When the current process began, by both clocks; at once, as above. */
static __always_inline void take_beginning(struct scratch *s)
{
	const struct task_struct *leader;

	if (HAS_TYPED_TASK) {
		leader = bpf_get_current_task_btf()->group_leader;
		s->rec.begun_ns = leader->start_time;
		s->begun_boottime_ns = leader->start_boottime;
		return;
	}
	leader =
		BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), group_leader);
	s->rec.begun_ns = BPF_CORE_READ(leader, start_time);
	s->begun_boottime_ns = BPF_CORE_READ(leader, start_boottime);
}

/* Is the kernel built with uprobes? */
#define HAS_UPROBES bpf_core_field_exists(((struct task_struct *)0)->utask)

/* From 6.1 on the mappings of a process are in a maple tree. */
#define HAS_MAPPING_TREE bpf_core_field_exists(((struct mm_struct *)0)->mm_mt)

static __always_inline __u64 inode_written_ns(const struct inode *inode)
{
	if (bpf_core_field_exists(inode->i_mtime_sec))
		return BPF_CORE_READ(inode, i_mtime_sec) * 1000000000 +
		       BPF_CORE_READ(inode, i_mtime_nsec);
	if (bpf_core_field_exists(inode->__i_mtime))
		return BPF_CORE_READ(inode, __i_mtime.tv_sec) * 1000000000 +
		       BPF_CORE_READ(inode, __i_mtime.tv_nsec);
	return BPF_CORE_READ(inode, i_mtime.tv_sec) * 1000000000 +
	       BPF_CORE_READ(inode, i_mtime.tv_nsec);
}

#define SYSCALL_CLONE3 435 /* on all machines, as newer ones are */

enum regs_mode { REGS_KERNEL, REGS_USER, REGS_USER_32BIT };

#if defined(__TARGET_ARCH_x86)

#define USER32_CS 0x23 /* arch/x86/include/asm/segment.h */

static __always_inline enum regs_mode regs_mode(const bpf_user_pt_regs_t *regs)
{
	__u16 cs = regs->cs;

	if (!(cs & 3))
		return REGS_KERNEL;
	return cs == USER32_CS ? REGS_USER_32BIT : REGS_USER;
}

/* All of them: in some prologues another one than sp and fp leads on. */
static __always_inline void regs_copy(struct scratch *s, const bpf_user_pt_regs_t *regs)
{
	s->pc = regs->ip;
	s->sp = regs->sp;
	s->fp = FP_OF(regs->bp);
	s->lr = 0;
	s->regs[0] = regs->ax;
	s->regs[1] = regs->dx;
	s->regs[2] = regs->cx;
	s->regs[3] = regs->bx;
	s->regs[4] = regs->si;
	s->regs[5] = regs->di;
	s->regs[6] = regs->bp;
	s->regs[7] = regs->sp;
	s->regs[8] = regs->r8;
	s->regs[9] = regs->r9;
	s->regs[10] = regs->r10;
	s->regs[11] = regs->r11;
	s->regs[12] = regs->r12;
	s->regs[13] = regs->r13;
	s->regs[14] = regs->r14;
	s->regs[15] = regs->r15;
}

#define SYSCALL_CLONE 56
#define NO_SYSCALL    (~0ULL)
#define SYSCALL_INSN  0x050f
#define INT_80_INSN   0x80cd
#define INT3_INSN     0xcc
#define FUNCTIONS_AT  16

/*
 * Do these registers, saved at `at`, say where a system call's instruction ends? Once a
 * signal's handler is to run, or the call is to be made again, they don't any more. The
 * instruction itself leaves that address in cx. int $0x80 does not, nor does any on
 * machines with FRED, so there the code is asked.
 */
static __always_inline bool regs_behind_syscall(const bpf_user_pt_regs_t *regs,
						const void *at)
{
	__u16 insn = 0;

	if (regs->orig_ax == NO_SYSCALL)
		return false;
	return regs->cx == regs->ip ||
	       (read_user(&insn, sizeof(insn), regs->ip - sizeof(insn)) &&
		(insn == SYSCALL_INSN || insn == INT_80_INSN));
}

static __always_inline int regs_syscall(const bpf_user_pt_regs_t *regs, const void *at)
{
	return regs->orig_ax;
}

/* Of a call that has not returned: -ENOSYS. */
static __always_inline __u64 regs_result(const bpf_user_pt_regs_t *regs)
{
	return regs->ax;
}

/* What a uretprobe's trampoline pushes before its system call, which these registers may
 * be of: it says that it is none any more. False: they are of another one. */
static __always_inline bool regs_pushed(const bpf_user_pt_regs_t *regs, __u64 *ret)
{
	ret[0] = regs->r11;
	ret[1] = regs->cx;
	ret[2] = regs->ax;
	return regs->orig_ax == NO_SYSCALL;
}

/* A uprobe's breakpoint is in the place of an instruction, and the kernel goes on from
 * there, but for its first microseconds pc is behind it. The same byte fills up before
 * functions, which begin at round addresses. */
static __always_inline void regs_back_to_breakpoint(bpf_user_pt_regs_t *regs)
{
	__u8 insn = 0;

	if (regs->ip & (FUNCTIONS_AT - 1) &&
	    read_user(&insn, sizeof(insn), regs->ip - sizeof(insn)) && insn == INT3_INSN)
		regs->ip -= sizeof(insn);
}

/* A worker that the kernel runs in a process's name (vhost) has none. */
static __always_inline bool regs_are_users(const bpf_user_pt_regs_t *regs)
{
	return regs->ip || regs->sp;
}

static __always_inline __u64 thread_pointer(void)
{
	return CURRENT(thread.fsbase, thread.fsbase);
}

/* Go's g of the thread into s->go_g, by s->rule; false: it can't be told. */
static __always_inline bool find_g(struct scratch *s)
{
	return read_user(&s->go_g, sizeof(s->go_g),
			 thread_pointer() + (__s64)s->rule.cfa_offset);
}

#else /* arm64 */

#define SYSCALL_CLONE  220
#define PSR_MODE_MASK  0xf
#define PSR_MODE32_BIT 0x10

static __always_inline enum regs_mode regs_mode(const bpf_user_pt_regs_t *regs)
{
	if (regs->pstate & PSR_MODE_MASK)
		return REGS_KERNEL;
	return regs->pstate & PSR_MODE32_BIT ? REGS_USER_32BIT : REGS_USER;
}

static __always_inline void regs_copy(struct scratch *s, const bpf_user_pt_regs_t *regs)
{
	s->pc = regs->pc;
	s->sp = regs->sp;
	s->fp = FP_OF(regs->regs[29]);
	s->lr = regs->regs[30];
#pragma clang loop unroll(full)
	for (int i = 0; i < USER_REGS; i++)
		s->regs[i] = regs->regs[i];
	s->go_g = regs->regs[28];
	s->x24 = regs->regs[24];
}

static __always_inline int regs_syscall(const bpf_user_pt_regs_t *regs, const void *at)
{
	return BPF_CORE_READ((const struct pt_regs___syscall *)at, syscallno);
}

/* The number is gone before a signal's handler is made to run. */
static __always_inline bool regs_behind_syscall(const bpf_user_pt_regs_t *regs,
						const void *at)
{
	return regs_syscall(regs, at) >= 0;
}

/* Of a call that has not returned: its first argument. */
static __always_inline __u64 regs_result(const bpf_user_pt_regs_t *regs)
{
	return regs->regs[0];
}

/* Its trampolines make no system call. */
static __always_inline bool regs_pushed(const bpf_user_pt_regs_t *regs, __u64 *ret)
{
	return false;
}

/* Where pc is. */
static __always_inline void regs_back_to_breakpoint(bpf_user_pt_regs_t *regs)
{
}

static __always_inline bool regs_are_users(const bpf_user_pt_regs_t *regs)
{
	return regs->pc || regs->sp;
}

static __always_inline __u64 thread_pointer(void)
{
	return CURRENT(thread.uw.tp_value, thread.uw.tp_value);
}

static __always_inline bool find_g(struct scratch *s)
{
	return true; /* it has a register of its own */
}

#endif

/* In an exec a task has the old program's registers and the new one's memory. */
static __always_inline bool in_exec(void)
{
	if (!bpf_core_field_exists(struct task_struct, in_execve))
		return false;
	if (HAS_TYPED_TASK)
		return BPF_CORE_READ_BITFIELD(bpf_get_current_task_btf(), in_execve);
	return BPF_CORE_READ_BITFIELD_PROBED((struct task_struct *)bpf_get_current_task(),
					     in_execve);
}

/* Are they those of a new thread, in the call that began it? Who made that has its number
 * there, or what is none of 0. And a process's first thread may begin on a copy of its
 * maker's stack. */
static __always_inline bool regs_are_new(const bpf_user_pt_regs_t *regs, const void *at)
{
	__u64 who;
	int number;

	if (regs_result(regs))
		return false;
	number = regs_syscall(regs, at);
	if (number != SYSCALL_CLONE && number != SYSCALL_CLONE3)
		return false;
	who = bpf_get_current_pid_tgid();
	return (__u32)who != who >> 32;
}

/*
 * The registers with which the task entered the kernel; false: it never came
 * from user mode. By helper from 5.15 on; before, they lie at the very end of
 * the kernel stack. *ret: if not IN_NO_SYSCALL, pc is where a system call's instruction
 * ends.
 */
static __always_inline bool saved_user_regs(bpf_user_pt_regs_t *to, enum in_syscall *ret)
{
	const void *at;

	if (CURRENT(flags, flags) & (PF_KTHREAD | PF_IO_WORKER) || in_exec())
		return false;
	/* an exiting task that gave its memory back runs on whoever's was last */
	if (!BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm))
		return false;
	if (bpf_core_enum_value_exists(enum bpf_func_id___weft,
				       BPF_FUNC_task_pt_regs___weft))
		at = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	else
		at = CURRENT(stack, stack) + knobs.kernel_stack_bytes -
		     sizeof(struct pt_regs);
	if (bpf_probe_read_kernel(to, sizeof(*to), at))
		return false;
	if (regs_behind_syscall(to, at))
		*ret = regs_are_new(to, at) ? IN_SYSCALL_THAT_BEGAN_IT : IN_SYSCALL;
	return regs_are_users(to);
}

/* Moved into task->futex in 7.2. By helper everywhere: it is a pointer with a type to
 * kernels up to 6.12, and the verifier lets nobody subtract from one. */
static __always_inline __u64 robust_list(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct___futex *moved = (void *)task;

	if (bpf_core_field_exists(moved->futex.robust_list))
		return (__u64)BPF_CORE_READ(moved, futex.robust_list);
	return (__u64)BPF_CORE_READ(task, robust_list);
}

/* The current task's cgroup that many steps below the root; 0: it is not so deep.
 * 5.10 has no helper for that in a sampling program, but cgroups list their own. */
static __always_inline __u64 cgroup_at(struct cgroup *own, __u32 level)
{
	__u64 id = 0;

	if (!bpf_core_field_exists(struct cgroup, ancestor_ids))
		return bpf_get_current_ancestor_cgroup_id(level);
	if ((int)level <= BPF_CORE_READ(own, level))
		bpf_probe_read_kernel(
			&id, sizeof(id),
			(void *)own + bpf_core_field_offset(struct cgroup, ancestor_ids) +
				level * sizeof(id));
	return id;
}

/*
 * Is the current task in the cgroup of that id, or in one below it? All levels
 * are tried: at which one it lies can't be told in a cgroup namespace, where the
 * root that is seen is somewhere below the true one.
 */
static __always_inline bool in_cgroup(__u64 id)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct cgroup *own = NULL;

	if (bpf_core_field_exists(struct cgroup, ancestor_ids))
		own = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	for (__u32 level = 0; level < CGROUP_LEVELS_MAX; level++) {
		__u64 at = cgroup_at(own, level);

		if (at == id)
			return true;
		if (!at)
			break;
	}
	return false;
}

#endif
