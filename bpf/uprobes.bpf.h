/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a thread truly is whose code or return addresses the kernel wrote over, for a
 * uprobe or a uretprobe. */
#ifndef WEFT_UPROBES_BPF_H
#define WEFT_UPROBES_BPF_H

#include "maps.bpf.h"

#define UPROBES_UNKNOWN 1 /* s->uretprobe: nobody asked yet */

/* Is the frame at hand in the kernel's own code in the process? Then its true place is at
 * hand. */
int uprobes_find_pc(__u32 hook);

/*
 * From 6.11 on x86-64, a function that is waited for returns by a system call, for which
 * its trampoline pushes three registers. As that call ends, and for some instructions of
 * the kernel's, pc is where the function returns to and sp still below these three. Are
 * they there?
 */
#define UPROBES_PUSHED 3

static __always_inline bool uprobes_are_pushed(const __u64 regs[UPROBES_PUSHED], __u64 sp,
					       __u64 room[UPROBES_PUSHED])
{
	return read_user(room, UPROBES_PUSHED * sizeof(*room), sp) &&
	       room[0] == regs[0] && room[1] == regs[1] && room[2] == regs[2];
}

#endif
