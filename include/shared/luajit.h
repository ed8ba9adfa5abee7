/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The frame of LuaJIT's interpreter (2.1, x86-64), as its call frame information has it:
 * user space knows a file by that rule, ticks a frame. */
#ifndef WEFT_SHARED_LUAJIT_H
#define WEFT_SHARED_LUAJIT_H

#include "shared/unwind.h"

#define LUAJIT_FRAME_BYTES 80	/* lj_frame.h: CFRAME_SIZE, with what a call leaves */
#define LUAJIT_FP_WORDS	   (-2) /* where its caller's are kept, from its end */
#define LUAJIT_BX_WORDS	   (-3)

/* No compiler keeps rbx right behind rbp. */
static inline __attribute__((always_inline)) int
luajit_is_rule(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->cfa_offset == LUAJIT_FRAME_BYTES &&
	       rule->fp == UNWIND_FP_CFA && rule->fp_words == LUAJIT_FP_WORDS &&
	       rule->bx_words == LUAJIT_BX_WORDS;
}

#endif
