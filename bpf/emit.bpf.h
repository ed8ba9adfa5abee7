/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger, and the record into the ring. Each outcome is told once a tick. */
#ifndef WEFT_EMIT_BPF_H
#define WEFT_EMIT_BPF_H

#include "maps.bpf.h"

int emit_entered(__u32 hook);
int emit_outcome(__u32 hook, __u32 outcome);
int emit_record(__u32 hook); /* 1: it was kept */
int emit_busy(__u32 hook);   /* since the record's time */

#endif
