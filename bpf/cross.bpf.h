/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the last frame of a chain leads: nowhere, back to a frame of the sampled thread,
 * or over to the stack of another thread that waits for the chain.
 */
#ifndef WEFT_CROSS_BPF_H
#define WEFT_CROSS_BPF_H

#include "maps.bpf.h"

int cross_end_chain(__u32 hook); /* at s->node, the last; opens what comes next */
int cross_end_stack(__u32 hook); /* of the waiting thread, whose walk is over */
int cross_find_frame(__u32 hook, __u64 fp);
int cross_find_among(__u32 hook, __u64 fp, __u32 from);

#endif
