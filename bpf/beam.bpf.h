/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of Erlang's runtime, BEAM. */
#ifndef WEFT_BEAM_BPF_H
#define WEFT_BEAM_BPF_H

#include "maps.bpf.h"

/* Of code that BEAM hosts, by s->rule: how the frame at hand ends and leads on, if not by
 * a frame pointer that nothing proves. */
int beam_try_frame(__u32 hook);

#endif
