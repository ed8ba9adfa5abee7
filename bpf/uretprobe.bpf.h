/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Callers of functions at whose return somebody waits by a uretprobe. */
#ifndef WEFT_URETPROBE_BPF_H
#define WEFT_URETPROBE_BPF_H

#include "maps.bpf.h"

#define URETPROBE_UNKNOWN 1 /* struct scratch: nobody asked yet */

/* Is the frame at hand no caller, but what the kernel lets such a function return to?
 * Then its true caller is at hand. */
int uretprobe_leave(__u32 hook);

#endif
