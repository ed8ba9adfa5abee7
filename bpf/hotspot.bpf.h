/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of the code that HotSpot generates (include/shared/hotspot.h). */
#ifndef WEFT_HOTSPOT_BPF_H
#define WEFT_HOTSPOT_BPF_H

#include "maps.bpf.h"

/* How the frame at hand leads on, if its code is HotSpot's: s->step_kind, s->cfa,
 * s->rule. 0: it is not, or there is no telling. */
int hotspot_try_code(__u32 hook);

#endif
