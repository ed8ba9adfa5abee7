/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of the code that HotSpot generates (include/shared/hotspot.h). */
#ifndef WEFT_HOTSPOT_BPF_H
#define WEFT_HOTSPOT_BPF_H

#include "maps.bpf.h"

#define HOTSPOT_ASK 2

/* How the frame at hand leads on, if its code is HotSpot's: s->step_kind, s->cfa,
 * s->rule. 0: it is not, or there is no telling; HOTSPOT_ASK: hotspot_check_frame() is
 * next. */
int hotspot_try_code(__u32 hook);

/* Is what s->rule leads to a caller? Else s->rule is another then, or leads to none. */
int hotspot_check_frame(__u32 hook);

/* verifier: two functions that look_up_frame() calls, for they call others, too, and
 * eight may call each other */
static __always_inline bool hotspot_look_up(__u32 hook)
{
	int found = hotspot_try_code(hook);

	if (found == HOTSPOT_ASK)
		hotspot_check_frame(hook);
	return found;
}

#endif
