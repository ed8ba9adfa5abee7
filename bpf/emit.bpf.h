/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger, and the record into the ring. Each outcome is told once a tick. */
#ifndef WEFT_EMIT_BPF_H
#define WEFT_EMIT_BPF_H

#include "maps.bpf.h"

static __always_inline struct ledger *ledger(__u32 hook)
{
	return bpf_map_lookup_elem(&ledgers, &hook);
}

static __always_inline void emit_entered(__u32 hook)
{
	struct ledger *l = ledger(hook);

	if (l)
		l->entered++;
}

int emit_outcome(__u32 hook, __u32 outcome);
int emit_record(__u32 hook); /* 1: it was kept */
int emit_busy(__u32 hook);   /* since the record's time */

#endif
