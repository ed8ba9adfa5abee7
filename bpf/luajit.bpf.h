/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of LuaJIT, which are found by what they hold. */
#ifndef WEFT_LUAJIT_BPF_H
#define WEFT_LUAJIT_BPF_H

#include "maps.bpf.h"

/* Of code of a mapping with UNWIND_LUAJIT: does the frame at hand lie in one of LuaJIT's?
 * Then s->rule says where that ends. is_ruled: s->rule is its table's. */
int luajit_find(__u32 hook, __u32 is_ruled);

#endif
