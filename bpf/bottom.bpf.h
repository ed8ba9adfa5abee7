/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the frame at hand a caller, or the bottom of a made stack? Into s->step_kind and
 * s->kind. */
#ifndef WEFT_BOTTOM_BPF_H
#define WEFT_BOTTOM_BPF_H

#include "table.bpf.h"

int bottom_try_code(__u32 hook); /* where there is no rule; or a handler returns there */
int bottom_doubt_caller(__u32 hook); /* where there is one, by s->call */

/* Does the code that the frame at hand goes on with end its thread? */
int bottom_ends_thread(__u32 hook);

/* Has the code that the frame at hand goes on with set fp to 0 just before its call? */
int bottom_zeroes_fp(__u32 hook);

#endif
