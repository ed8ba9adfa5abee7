/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sandboxes' filters of system calls have in common: a filter begins with
 * FILTER_HEAD, which loads the number of the call; FILTER_RULE()s and what is done with
 * all others follow; syscall_filter_take() puts it into force, for good.
 */
#ifndef WEFT_WORKER_SYSCALL_FILTER_H
#define WEFT_WORKER_SYSCALL_FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Whose system calls a filter means. */
#ifdef __aarch64__
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCH AUDIT_ARCH_X86_64
#endif

#define FILTER_ALLOW  SECCOMP_RET_ALLOW
#define FILTER_REFUSE (SECCOMP_RET_ERRNO | EPERM)

/* Another machine's numbers mean other calls. */
#define FILTER_HEAD                                                                      \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),         \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),                  \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                     \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

/* Of one call: FILTER_ALLOW or FILTER_REFUSE. */
#define FILTER_RULE(call, what)                                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FILTER_RETURN(what)

/* By which a process takes over others or the kernel, or becomes something else, and all
 * numbers of x32, which has other names for the same calls. */
#define FILTER_OTHER_NUMBERS 0x40000000
#define FILTER_TAKING_OVER                                                               \
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FILTER_OTHER_NUMBERS, 0, 1),                 \
		FILTER_RETURN(FILTER_REFUSE), FILTER_RULE(execve, FILTER_REFUSE),        \
		FILTER_RULE(execveat, FILTER_REFUSE),                                    \
		FILTER_RULE(ptrace, FILTER_REFUSE), FILTER_RULE(bpf, FILTER_REFUSE),     \
		FILTER_RULE(perf_event_open, FILTER_REFUSE),                             \
		FILTER_RULE(io_uring_setup, FILTER_REFUSE),                              \
		FILTER_RULE(userfaultfd, FILTER_REFUSE),                                 \
		FILTER_RULE(keyctl, FILTER_REFUSE), FILTER_RULE(mount, FILTER_REFUSE),   \
		FILTER_RULE(unshare, FILTER_REFUSE), FILTER_RULE(setns, FILTER_REFUSE)

/* Of whatever comes to it. */
#define FILTER_RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

static inline void syscall_filter_take(struct sock_filter *filter, unsigned short n)
{
	const struct sock_fprog program = { .len = n, .filter = filter };

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#endif
