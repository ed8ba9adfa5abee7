/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The goroutine that Go's runtime works for on the scheduler's stack. */
#ifndef WEFT_GOROUTINE_BPF_H
#define WEFT_GOROUTINE_BPF_H

#include "maps.bpf.h"

/* By s->rule, a GO or GO_C: its stack into s->cfa, and if the rule says so where it goes
 * on into s->go_pc and s->lr. 0: the thread has none, or what it has is none. */
int goroutine_find(__u32 hook);

#endif
