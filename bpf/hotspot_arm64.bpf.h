/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of its frame is there at a leaf in the code that HotSpot's compilers make for
 * arm64, JDK 8 to 25: that say its own instructions, at a frame's beginning and end. In
 * between all of it is.
 */
#ifndef WEFT_HOTSPOT_ARM64_BPF_H
#define WEFT_HOTSPOT_ARM64_BPF_H

#include "hotspot_frame.bpf.h"

#define PUSH_RECORD   0xa9bf7bfd /* stp x29, x30, [sp, #-16]! */
#define POP_RECORD    0xa8c17bfd /* ldp x29, x30, [sp], #16 */
#define SUB_SP_X8     0xcb2863ff /* sub sp, sp, x8 */
#define CMP_SP_X8     0xeb2863ff
#define BLR_X8	      0xd63f0100
#define BR_X8	      0xd61f0100
#define LDR_X8_AHEAD  0x58000048 /* ldr x8, .+8 */
#define PUSH_WAY_BACK 0xa9bf27ff /* stp xzr, x9, [sp, #-16]! */
#define DROP_WAY_BACK 0x910043ff /* add sp, sp, #16 */

/* The link register has the return address, below so many bytes. */
static __always_inline struct unwind_rule frame_in_lr(__u32 bytes)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .cfa_offset = bytes,
				     .ra = UNWIND_RA_LR };
}

static __always_inline struct unwind_rule no_frame(void)
{
	return frame_in_lr(0);
}

/* stp x29, x30, [sp, #bytes - 16] */
static __always_inline bool saves_fp_in(__u32 insn, __u32 bytes)
{
	return saves_fp(insn) && (insn >> 15 & 0x7f) == bytes / 8 - 2;
}

/* ldp x29, x30, [sp, #…] */
static __always_inline bool loads_fp(__u32 insn)
{
	return (insn & 0xffc07fff) == 0xa9407bfd;
}

/* sub sp, sp, #…, or x8 */
static __always_inline bool takes_rest(__u32 insn)
{
	return makes_frame(insn) || insn == SUB_SP_X8;
}

/* Did the instruction before this one end the frame: ldp x29, x30, [sp, #…]; add sp, sp,
 * #…, or the two in one? */
static __always_inline bool has_ended(const __u32 *at, __u32 bytes)
{
	return at[-1] == POP_RECORD ||
	       (drops_frame(at[-1]) && IMM12(at[-1]) == bytes && loads_fp(at[-2]));
}

/* Behind the frame's end: at the return, or where it asks for safepoints before: ldr x8;
 * cmp sp, x8; b.hi. Before JDK 16 that is a load of a load. */
static __always_inline bool is_behind_end(const __u32 *at, __u32 bytes)
{
	return returns(at[0]) || at[0] == CMP_SP_X8 || at[-1] == CMP_SP_X8 ||
	       has_ended(at, bytes) || (has_ended(at - 1, bytes) && !jumps(at[-1]));
}

/* What a function's beginning, up to here, has made of its frame: sub sp, sp, #…; stp
 * x29, x30, [sp, #…]. Or stp x29, x30, [sp, #-16]!; [mov x29, sp]; sub sp, sp, …. */
static __always_inline struct unwind_rule begun_frame(const __u32 *at, __u32 bytes)
{
	const __u32 *insns = at - 2 * LEAF_BEFORE;
	__u32 made = 0;

	for (int i = 0; i < 2 * LEAF_BEFORE; i++) {
		if (insns[i] == PUSH_RECORD)
			made = FRAME_BYTES;
		if (saves_fp_in(insns[i], bytes) ||
		    (made == FRAME_BYTES && takes_rest(insns[i])))
			made = bytes;
	}
	return made ? whole_frame(made) : no_frame();
}

/* Has a call without a frame of Java's a way back on the stack: adr x9, …; stp xzr, x9,
 * [sp, #-16]!; blr x8; add sp, sp, #16? */
static __always_inline bool has_way_back(__u32 insn, __u32 before)
{
	return (insn == DROP_WAY_BACK && before == BLR_X8) ||
	       (insn == BLR_X8 && before == PUSH_WAY_BACK);
}

/* words: of code, LEAF_BEFORE of them before the leaf's. */
static __always_inline struct unwind_rule leaf_frame(const __u64 *words, __u32 bytes,
						     bool is_complete)
{
	const __u32 *at = (const __u32 *)(words + LEAF_BEFORE);

	if (saves_fp_in(at[0], bytes) && makes_frame(at[-1]))
		return frame_in_lr(bytes);
	if (at[0] == PUSH_RECORD || (makes_frame(at[0]) && saves_fp_in(at[1], bytes)))
		return no_frame();
	if (at[0] == POP_RECORD || at[-1] == PUSH_RECORD ||
	    (at[-2] == PUSH_RECORD && sets_fp(at[-1])))
		return whole_frame(FRAME_BYTES);
	if (!is_complete)
		return begun_frame(at, bytes);
	if (is_behind_end(at, bytes))
		return no_frame();
	return whole_frame(bytes + (has_way_back(at[0], at[-1]) ? FRAME_BYTES : 0));
}

/* A way back, or ldp …, …, [sp], #N: how much; 0: neither follows. */
static __always_inline __u32 popped_bytes(__u64 code, __u64 before)
{
	__u32 insn = code;

	if (has_way_back(insn, before >> 32))
		return FRAME_BYTES;
	return (insn & 0xffe003e0) == 0xa8c003e0 ? 8 * (insn >> 15 & 0x3f) : 0;
}

/* What barriers save is not looked at here. */
static __always_inline __u32 reload_bytes(__u64 code)
{
	return 0;
}

static __always_inline __u32 dropped_bytes(__u64 code)
{
	return 0;
}

/* adrp x8, …, and what is added to it; false: these are none. */
static __always_inline bool find_page(const __u32 *insns, __u64 at, __u64 *ret)
{
	__s64 pages = (__s32)(insns[0] << 8) >> 13;

	*ret = (at & ~0xfffULL) + 0x1000 * (4 * pages + (insns[0] >> 29 & 3)) +
	       IMM12(insns[1]);
	return (insns[0] & 0x9f00001f) == 0x90000008 &&
	       (insns[1] & 0xffc003ff) == 0x91000108;
}

/* mov x8, #…; movk x8, #…, lsl #16; movk x8, #…, lsl #32 */
static __always_inline bool find_constant(const __u32 *insns, __u64 *ret)
{
	*ret = (insns[0] >> 5 & 0xffff) | (__u64)(insns[1] >> 5 & 0xffff) << 16 |
	       (__u64)(insns[2] >> 5 & 0xffff) << 32;
	return (insns[0] & 0xffe0001f) == 0xd2800008 &&
	       (insns[1] & 0xffe0001f) == 0xf2a00008 &&
	       (insns[2] & 0xffe0001f) == 0xf2c00008;
}

/* Where the call leads that ends at that address, if it says so: bl, perhaps by way of
 * ldr x8, …; br x8, or blr x8 behind what sets that. */
static __always_inline bool find_target(__u64 pc, __u64 *ret)
{
	__u32 insns[4], way[4];

	if (!read_user(insns, sizeof(insns), pc - sizeof(insns)))
		return false;
	if (call_target((__u64)insns[3] << 32, pc, ret)) {
		if (read_user(way, sizeof(way), *ret) && way[0] == LDR_X8_AHEAD &&
		    way[1] == BR_X8)
			*ret = way[2] | (__u64)way[3] << 32;
		return true;
	}
	return insns[3] == BLR_X8 &&
	       (find_page(insns + 1, pc - 12, ret) || find_constant(insns, ret));
}

/* stp …, …, [sp, #-N]!, of two registers, or two halves of vectors: N; 0: it is none. */
static __always_inline __u32 pair_bytes(__u32 insn)
{
	__u32 bytes = 8 * (-(insn >> 15) & 0x7f);

	return (insn & 0xffe003e0) == 0xa9a003e0 || (insn & 0xffe003e0) == 0x6da003e0
		       ? bytes
		       : 0;
}

static __always_inline bool is_x87(__u64 code, __u64 before)
{
	return false;
}

/* What a stub without a frame, which begins there, has pushed at pc: registers that it
 * saves, at once. */
static __always_inline __u32 pushed_bytes(__u64 begin, __u64 pc)
{
	__u32 first, at;

	if (pc == begin || !read_user(&first, sizeof(first), begin) ||
	    !read_user(&at, sizeof(at), pc) || returns(at))
		return 0;
	return pair_bytes(first);
}

/* Return barriers are gone on behind by frame pointer. */
static __always_inline bool is_return_barrier(__u64 code)
{
	return false;
}

/* The register in which the interpreter has where its locals are. */
static __always_inline __u64 locals_register(const struct scratch *s)
{
	return s->x24;
}

/* Where the caller's memory begins, behind a frame of the interpreter's. An interpreted
 * caller's sp was lower: room for all that it might push. */
static __always_inline __u64 behind_locals(__u64 sender, __u64 record)
{
	return record - sender < SENDER_BYTES ? record + FRAME_BYTES : sender;
}

#endif
