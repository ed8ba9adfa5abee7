/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of its frame is there at a leaf in the code that HotSpot's compilers make for
 * x86-64, JDK 8 to 25: that say its own instructions, at a frame's beginning and end. In
 * between all of it is.
 */
#ifndef WEFT_HOTSPOT_X86_BPF_H
#define WEFT_HOTSPOT_X86_BPF_H

#include "hotspot_frame.bpf.h"

#define PUSH_RBP   0x55
#define REG_LOCALS 14

/* Nothing is there but a return address. */
static __always_inline struct unwind_rule no_frame(void)
{
	return pushed_frame(8);
}

/* Are these the n bytes from byte `at` of the code on? */
#define HAS(code, at, n, bytes)                                                          \
	(((code) >> 8 * (at) & (~0ULL >> (64 - 8 * (n)))) == (bytes))
#define STARTS(code, n, bytes) HAS(code, 0, n, bytes)
#define ENDS(code, n, bytes)   HAS(code, 8 - (n), n, bytes)

/* Has the collector something to say to who comes in: cmpl $N,M(%r15)? 0: yes. */
static __always_inline __u64 from_asking(__u64 code)
{
	return ((code ^ 0x7f8141) & 0xffffff) * ((code ^ 0xbf8141) & 0xffffff);
}

static __always_inline bool asks_collector(__u64 code)
{
	return !from_asking(code);
}

/* Behind the frame, [nops]; that; jne, or je and a call. code: a word before, two from
 * the leaf on. */
static __always_inline bool is_asking(const __u64 *code)
{
	__u64 at = code[1], asked = 0;
	bool found =
		asks_collector(at) || STARTS(at, 1, 0xe8) || STARTS(at, 1, 0x74) ||
		STARTS(at, 2, 0x840f) ||
		(STARTS(at, 2, 0x850f) && (asks_collector(code[0]) || !(code[0] >> 32)));

	if (!STARTS(at, 1, 0x90) && !STARTS(at, 2, 0x9066) && !STARTS(at, 2, 0x6666) &&
	    !STARTS(at, 2, 0x1f0f) && !STARTS(at, 3, 0x1f0f66))
		return found;
	/* verifier: no branches, which the loop would multiply; 0, less 1: all bits */
	for (int i = 1; i < 8; i++)
		asked |= from_asking(at >> 8 * i | code[2] << (64 - 8 * i)) - 1;
	return found || asked >> 63;
}

/* Behind push %rbp: [mov %rsp,%rbp]; sub $N,%rsp? */
static __always_inline bool has_pushed_fp(__u64 code, __u64 before)
{
	return (STARTS(code, 3, 0xec8348) || STARTS(code, 3, 0xec8148) ||
		sets_fp(code)) &&
	       (ENDS(before, 1, PUSH_RBP) || sets_fp(before >> 40));
}

/* Of code before its frame is there: that, perhaps behind mov %eax,-N(%rsp). Or sub
 * $N,%rsp; mov %rbp,N(%rsp); [mov %rsp,%rbp; add $N,%rbp]. */
static __always_inline struct unwind_rule beginning_frame(const __u64 *words, __u32 bytes)
{
	__u64 code = words[1];
	bool adds_to_fp = STARTS(code, 3, 0xc58348) || STARTS(code, 3, 0xc58148);

	if (STARTS(code, 4, 0x246c8948) || STARTS(code, 4, 0x24ac8948))
		return pushed_frame(bytes);
	return sets_fp(code) || adds_to_fp || is_asking(words) ? whole_frame(bytes)
							       : no_frame();
}

/* Does it ask for safepoints, between the frame's end and the return: cmp N(%r15),%rsp;
 * ja; or as JDKs before 16, behind pop %rbp, mov N(%r15),%r10; test %eax,(%r10), or test
 * %eax,N(%rip)? */
static __always_inline bool polls_at_return(__u64 code, __u64 before)
{
	if (STARTS(code, 3, 0x673b49) || STARTS(code, 3, 0xa73b49))
		return true;
	if (STARTS(code, 2, 0x870f))
		return HAS(before, 4, 3, 0x673b49) || HAS(before, 1, 3, 0xa73b49);
	if (STARTS(code, 2, 0x0585) || STARTS(code, 3, 0x978b4d))
		return ENDS(before, 1, POP_FP);
	return STARTS(code, 3, 0x028541) && STARTS(before, 4, 0x978b4d5d);
}

/* pop %rbp, as a frame's last instruction: what may follow is a return, a jump or a
 * poll. */
static __always_inline bool pops_fp_last(__u64 code)
{
	__u8 next = code >> 8;

	return (__u8)code == POP_FP && (next == RET || next == JMP || next == 0x49 ||
					next == 0x4d || next == 0x85 || next == 0xc5);
}

/* add $N,%rsp; pop %rbp */
static __always_inline bool ended_frame(__u64 before)
{
	return ENDS(before, 1, POP_FP) &&
	       (HAS(before, 3, 3, 0xc48348) || STARTS(before, 3, 0xc48148));
}

#define LEAVE 0xc9

/* leave, and what a native method does then: cmp, or test, N(%r15) */
static __always_inline bool left_frame(__u64 code, __u64 before)
{
	return ENDS(before, 1, LEAVE) &&
	       (STARTS(code, 3, 0x7f8149) || STARTS(code, 3, 0x7f8349) ||
		STARTS(code, 3, 0x47f641));
}

/* Behind the frame's end. */
static __always_inline bool goes(__u64 code, __u64 before)
{
	return (__u8)code == RET || left_frame(code, before) ||
	       polls_at_return(code, before) ||
	       ((__u8)code == JMP && ended_frame(before));
}

/* Whether a class is another's, JDK 8 asks with rax pushed: repnz scas; pop %rax. */
static __always_inline bool scans_classes(__u64 code, __u64 before)
{
	return STARTS(code, 4, 0x58af48f2) ||
	       (STARTS(code, 1, 0x58) && ENDS(before, 3, 0xaf48f2));
}

static __always_inline struct unwind_rule leaf_frame(const __u64 *words, __u32 bytes,
						     bool is_complete)
{
	__u64 before = words[0], code = words[1];

	if (has_pushed_fp(code, before) || (is_complete && pops_fp_last(code)))
		return whole_frame(FRAME_BYTES);
	if (!is_complete)
		return beginning_frame(words, bytes);
	if (pushes_fp(code) || goes(code, before))
		return no_frame();
	return whole_frame(bytes + (scans_classes(code, before) ? 8 : 0));
}

/* Is an instruction of the x87 there, or right before it? JDK 8 has them where a method
 * calls sin(), pow() and their like, and pushes what they take. */
static __always_inline bool is_x87(__u64 code, __u64 before)
{
	return HAS(code & 0xf8, 0, 1, 0xd8) || HAS(before & 0xf8ULL << 48, 6, 1, 0xd8) ||
	       HAS(before & 0xf8ULL << 40, 5, 1, 0xd8);
}

/* How long an instruction is that loads a register from the stack, or from another, or
 * zeroes the upper halves of vectors; 0: it is none of these. */
static __always_inline __u32 reload_bytes(__u64 code)
{
	__u32 at = (__u8)code == 0x62 ? 5 : (__u8)code == 0xc5 ? 3 : 2;
	__u8 modrm = code >> 8 * at, sib = code >> (8 * at + 8), mod = modrm >> 6;

	if (STARTS(code, 3, 0x77f8c5))
		return 3;
	if (at == 2 && mod == 3)
		return (code & 0xfff8) == 0x8b48 || (code & 0xfff8) == 0x8948 ? 3 : 0;
	if ((at == 2 && (code & 0xfff8) != 0x8b48) || mod == 3)
		return 0;
	if ((modrm & 7) != 4 || sib != 0x24)
		return 0;
	return at + 2 + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* add $N,%rsp; jmp: N */
static __always_inline __u32 dropped_bytes(__u64 code)
{
	__u8 next = code >> 32, last = code >> 56;

	if (STARTS(code, 3, 0xc48348) && (next == JMP || next == JMP_SHORT))
		return code >> 24 & 0x7f;
	return STARTS(code, 3, 0xc48148) && (last == JMP || last == JMP_SHORT)
		       ? code >> 24 & 0xfff8
		       : 0;
}

/* pop of what was pushed before the call, up to four words: how much; 0: none follows. */
static __always_inline __u32 popped_bytes(__u64 code, __u64 before)
{
	__u32 bytes = 0;

	for (int i = 0; i < 4; i++) {
		if ((__u8)code == 0x41)
			code >>= 8;
		if ((code & 0xf8) != 0x58 || (__u8)code == POP_FP)
			break;
		bytes += 8;
		code >>= 8;
	}
	return bytes;
}

/* Where the call leads that ends at that address, if it says so: call, or movabs $…,%r10;
 * call *%r10. */
static __always_inline bool find_target(__u64 pc, __u64 *ret)
{
	__u64 before[2];

	if (!read_user(before, sizeof(before), pc - sizeof(before)))
		return false;
	if (call_target(before[1], pc, ret))
		return true;
	*ret = before[0] >> 40 | before[1] << 24;
	return ENDS(before[1], 3, 0xd2ff41) && HAS(before[0], 3, 2, 0xba49);
}

/* What a stub without a frame has pushed at pc: it has a frame, if it does. */
static __always_inline __u32 pushed_bytes(__u64 begin, __u64 pc)
{
	return 0;
}

/* Does the code of a return barrier begin so: mov N(%r15),%rsp; push %rax? A thread has
 * the entry of its continuation at N. */
static __always_inline bool is_return_barrier(__u64 code)
{
	return STARTS(code, 3, 0xa78b49) && HAS(code, 5, 3, 0x500000);
}

/* The register in which the interpreter has where its locals are. */
static __always_inline __u64 locals_register(const struct scratch *s)
{
	return s->regs[REG_LOCALS];
}

/* Where the caller's memory begins, behind a frame of the interpreter's, which has added
 * to it. Who calls through a method handle pushed what linkToStatic() and its like take
 * from below the return address, so that stands where the caller's sp was. */
static __always_inline __u64 behind_locals(__u64 sender, __u64 record)
{
	return sender == record + 8 ? record + FRAME_BYTES : sender;
}

#endif
