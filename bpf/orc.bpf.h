/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own stack by the tables that the kernel itself unwinds by (x86-64). */
#ifndef WEFT_ORC_BPF_H
#define WEFT_ORC_BPF_H

#include "maps.bpf.h"

/* The kernel's frames into the record's words, from s->pc, sp and fp on. How many: all
 * that the kernel's helper tells of, or 0: it must be asked. */
int orc_walk(__u32 hook);

/* Is the helper to be asked all the same? */
int orc_is_checked(__u32 hook);

/* The record's words beside so many bytes of the helper's, in the chunk. Where they
 * differ, these take their place, and the helper is asked from now on. */
int orc_check(__u32 hook, __u32 bytes);

#endif
