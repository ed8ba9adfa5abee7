/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the current process maps, asked of the kernel at a tick. */
#ifndef WEFT_VMAS_BPF_H
#define WEFT_VMAS_BPF_H

#include "maps.bpf.h"

/* All of its code into the hook's list; 0: it can't be told. */
int vmas_ask(__u32 hook);

#endif
