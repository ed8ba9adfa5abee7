/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of HotSpot's code, as they are on both machines: a return address and the
 * caller's frame pointer are a frame's last two words.
 */
#ifndef WEFT_HOTSPOT_FRAME_BPF_H
#define WEFT_HOTSPOT_FRAME_BPF_H

#include "chunk.bpf.h"
#include "code.bpf.h"

/* Words of code before a leaf's that are read, and where a frame of the interpreter's has
 * its locals, in words from fp on: frame_*.hpp of JDK 9 to 25, or what lays it down. */
#if defined(__TARGET_ARCH_arm64)
#define LEAF_BEFORE 8 /* a function's beginning has fewer */
#define LOCALS	    (-8)
#else
#define LEAF_BEFORE 1
#define LOCALS	    (-7)
#endif

/* Where such a frame has other things; the same of JDK 8. */
#define LOCALS_OF_8 (-6)
#define SENDER_SP   (-1)
#define METHOD	    (-3)

#define SENDER_BYTES (64ULL << 10) /* of the caller's that it added to its own */

#define SAVED_FP_WORDS (-2)

/* The frame is there, and so large. */
static __always_inline struct unwind_rule whole_frame(__u32 bytes)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .cfa_offset = bytes,
				     .fp = UNWIND_FP_CFA,
				     .fp_words = SAVED_FP_WORDS,
				     .ra_words = -1 };
}

static __always_inline struct unwind_rule frame_by_fp(void)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_FP,
				     .cfa_offset = FRAME_BYTES,
				     .fp = UNWIND_FP_CFA,
				     .fp_words = SAVED_FP_WORDS,
				     .ra_words = -1 };
}

/* A return address is the last of so many bytes, and the frame pointer is as it was. */
static __always_inline struct unwind_rule pushed_frame(__u32 bytes)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .cfa_offset = bytes,
				     .ra_words = -1 };
}

/* It ends so far behind its record, which fp leads to. */
static __always_inline struct unwind_rule frame_by_record(__u64 bytes)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .fp = UNWIND_FP_DEREF,
				     .ra_words = 1 - (__s64)bytes / 8 };
}

#endif
