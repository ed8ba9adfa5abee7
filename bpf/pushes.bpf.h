/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The beginning of generated functions that keep no frame pointer, as LLVM's: they push
 * the registers that they owe their caller. Where the pc is among those pushes, it says
 * how deep the stack is.
 */
#ifndef WEFT_PUSHES_BPF_H
#define WEFT_PUSHES_BPF_H

#include "code.bpf.h"

#if defined(__TARGET_ARCH_arm64)
/* A frame there has a record, and its address is in the register until then. */
static __always_inline bool is_among_pushes(const __u64 *code, __u64 pc,
					    struct unwind_rule *ret)
{
	return false;
}
#else
#define ENTRY_ALIGN  16 /* of LLVM's and most others */
#define PUSHED_BYTES 8	/* of pushes that are looked at */

/* 1: x is 0, and else 0; x: less than 2^32. */
static __always_inline __u64 is_zero(__u64 x)
{
	x -= 1;
	KEEP(x); /* or clang makes a branch of it */
	return x >> 63;
}

/* push of %rbx, %rbp, %r12 to %r15: how long; 0: it is another instruction. verifier:
 * without a branch, since a loop asks */
static __always_inline __u32 push_bytes(__u64 code)
{
	return is_zero((__u8)code ^ 0x53) + is_zero((__u8)code ^ 0x55) +
	       2 * is_zero((code & 0xfcff) ^ 0x5441);
}

/*
 * Does the code from an aligned address up to pc push such registers and do nothing else,
 * and if it is none yet, will it begin so? code: the word at pc, behind another one.
 */
static __always_inline bool is_among_pushes(const __u64 *code, __u64 pc,
					    struct unwind_rule *ret)
{
	__u32 left = pc & (ENTRY_ALIGN - 1), bytes, pushed = 0;
	__u64 at;

	if (left >= PUSHED_BYTES)
		return false;
	at = left ? code[-1] >> 8 * (8 - left) | code[0] << 8 * left : code[0];
	if (!push_bytes(at))
		return false;
	for (int i = 0; i < PUSHED_BYTES && left; i++) {
		bytes = push_bytes(at);
		if (!bytes || bytes > left)
			return false;
		left -= bytes;
		at >>= 8 * bytes;
		pushed += 8;
	}
	*ret = RULE_BEHIND(pushed);
	return !left;
}
#endif

#endif
