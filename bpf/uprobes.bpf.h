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

#endif
