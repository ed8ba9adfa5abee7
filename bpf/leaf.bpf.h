/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How does a leaf lead on that no rule tells of? Into s->step_kind and s->rule. */
#ifndef WEFT_LEAF_BPF_H
#define WEFT_LEAF_BPF_H

#include "table.bpf.h"

int leaf_try_code(__u32 hook);

#endif
