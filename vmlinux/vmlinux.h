/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types as far as weft's BPF programs read them, trimmed by hand.
 * Field offsets don't matter here: libbpf relocates each access against the
 * running kernel's BTF (preserve_access_index), so only names and types must
 * be right. What a user space ABI fixes (bpf_perf_event_data, pt_regs on the
 * stack) is written out whole and not relocated.
 */
#ifndef WEFT_VMLINUX_H
#define WEFT_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false, true };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};
enum {
	BPF_RB_AVAIL_DATA = 0,
};

/* A helper that a kernel lacks is absent from its enum: compat.bpf.h asks. */
enum bpf_func_id___weft {
	BPF_FUNC_get_current_task_btf___weft = 158,
	BPF_FUNC_task_pt_regs___weft = 175,
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs { /* arch/x86/include/uapi/asm/ptrace.h, kernel's names */
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs { /* arch/arm64/include/uapi/asm/ptrace.h */
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;
struct pt_regs { /* begins with user_pt_regs; the rest is the kernel's own */
	struct user_pt_regs user_regs;
};
#else
#error "weft's BPF programs know x86-64 and arm64"
#endif

struct bpf_raw_tracepoint_args { /* include/uapi/linux/bpf.h */
	__u64 args[0];
};

enum { BPF_ANY };

enum { BPF_F_MMAPABLE = 1U << 10 };

struct bpf_perf_event_data { /* include/uapi/linux/bpf_perf_event.h */
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode {
	unsigned long i_ino;
	__s64 i_size;
	struct super_block *i_sb;
	/* each kernel has one of three */
	__s64 i_mtime_sec; /* 6.11 and later */
	__u32 i_mtime_nsec;
	struct timespec64 __i_mtime; /* 6.7 to 6.10 */
	struct timespec64 i_mtime;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff; /* in pages */
	struct file *vm_file;
};

/* 6.1 and later */
struct maple_tree {
	void *ma_root;
};

/* kernel/events/uprobes.c, include/linux/uprobes.h */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe;

struct uprobe_task {
	struct return_instance *return_instances;
	unsigned long vaddr; /* of the instruction that is executed at xol_vaddr */
	struct uprobe *active_uprobe;
	unsigned long xol_vaddr;
};

struct mm_struct {
	struct maple_tree mm_mt;
	struct uprobes_state uprobes_state;
	unsigned long start_stack;
	unsigned long exec_vm; /* pages that can be run, and not written */
};

struct cgroup {
	int level;
	__u64 ancestor_ids[]; /* until 6.0 */
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct robust_list_head;

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
#else
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};
#endif

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	__u64 start_time;
	__u64 start_boottime;
	int *clear_child_tid;
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct robust_list_head *robust_list;
	struct css_set *cgroups;
	struct uprobe_task *utask;
	unsigned int in_execve : 1;
	struct thread_struct thread;
};

/* 7.2 and later */
struct futex_sched_data___weft {
	struct robust_list_head *robust_list;
};
/* arm64's own part of the saved registers; arch/arm64/include/asm/ptrace.h */
struct pt_regs___syscall {
	__s32 syscallno;
};

struct task_struct___futex {
	struct futex_sched_data___weft futex;
};

#pragma clang attribute pop

#endif
