/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of code that a host runs, which are all of one size. */
#ifndef WEFT_HOSTED_BPF_H
#define WEFT_HOSTED_BPF_H

#include "maps.bpf.h"

/* Of code beside a host, of which nothing else says how it leads on: does
 * the frame at hand lead on as the host's rule says? Then by that. 1: the host is BEAM,
 * by whose rule, s->rule, beam_try_frame() goes. */
int hosted_try_frame(__u32 hook);

#endif
