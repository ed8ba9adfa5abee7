/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Down a stack, from s->pc, sp and fp; s->ending says how it ended. */
#ifndef WEFT_WALK_BPF_H
#define WEFT_WALK_BPF_H

#include "maps.bpf.h"

int walk_begin(__u32 hook);
int walk_chunk(__u32 hook); /* some frames on; it changes s->phase at the end */
int walk_end(__u32 hook, __u32 ending);
int walk_on_by_table(__u32 hook);

#endif
