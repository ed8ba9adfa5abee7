/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a thread to its async roots. */
#ifndef WEFT_SLOT_BPF_H
#define WEFT_SLOT_BPF_H

#include "maps.bpf.h"

/* The current thread's, of a process with keys, into s->root_cursors. */
int slot_find_roots(__u32 hook);

#endif
