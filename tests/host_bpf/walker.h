/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sample by the native build of bpf/: what sample.bpf.c does once it knows
 * the registers. The scratch value is left from sample to sample, as it is on
 * a CPU.
 */
#ifndef WEFT_TESTS_WALKER_H
#define WEFT_TESTS_WALKER_H

#include "weft.bpf.h"

#define ELSEWHERE_BYTES 0x1000

struct sampled {
	__u64 pc, sp, fp;
	__u64 lr, x24;	       /* arm64 */
	__u64 roots[KEYS_MAX]; /* the innermost of each key; 0: none */
	__u64 metadata_cookie, suspended_cookie;
	__u32 n_kernel; /* kernel frames before the thread's */
	__u32 in_syscall;
	__u64 regs[USER_REGS];
	__u64 tp, g; /* the thread pointer, which x86-64 finds g by; arm64's */
	struct process_info process_info; /* of it, what is mapped */
	__u64 elsewhere;	       /* a stack here is not the thread's own; 0: none */
	__u32 no_alternate;	       /* the thread has no alternate stack any more */
	__u32 near_base;	       /* all other is only near its base */
	__u64 code_bytes;	       /* that the process has mapped, known or not */
	const struct hotspot *hotspot; /* its JVM; NULL: it has none */
	struct vma_list *vmas;	       /* what the kernel says it maps; NULL: not asked */
};

/* Valid until the next call; its words follow it, as in a ring. */
const struct sample_rec *walker_sample(const struct sampled *at);

/* Did the last one end by itself, not by the bound on its loop? */
bool walker_ended(void);

/* Spaces and tables from now on, borrowed. */
void walker_lend_pages(const union unwind_page *pages, __u32 n);

/* Leaves nothing of earlier samples but this byte. */
void walker_forget(int byte);

void walker_default_knobs(void);

#endif
