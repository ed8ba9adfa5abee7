/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that a stack begins with: nobody called it. It ends its thread behind the call
 * that it makes, or has marked its frame before.
 */
#ifndef WEFT_BEGIN_BPF_H
#define WEFT_BEGIN_BPF_H

#include "code.bpf.h"

#define EXIT_BYTES  16 /* of code that ends a thread */
#define BEGIN_BYTES 24 /* of code that marks its frame, up to the call */

#if defined(__TARGET_ARCH_arm64)
/* blr */
static __always_inline bool register_call_ends(__u64 before)
{
	return (before >> 32 & 0xfffffc1f) == 0xd63f0000;
}

/* Does it end the thread: mov x8, #93 (or w8); svc #0, behind a move perhaps? */
static __always_inline bool ends_thread(const __u8 code[EXIT_BYTES])
{
	const __u32 *insns = (const __u32 *)code;

	for (int i = 0; i < 2; i++)
		if ((insns[i] & 0x7fffffff) == 0x52800ba8 && insns[i + 1] == 0xd4000001)
			return true;
	return false;
}

/* Does it set fp to 0: mov x29, #0, or xzr? */
static __always_inline bool zeroes_fp(const __u8 code[BEGIN_BYTES])
{
	const __u32 *insns = (const __u32 *)code;

	for (int i = 0; i < BEGIN_BYTES / 4; i++)
		if (insns[i] == 0xd280001d || insns[i] == 0xaa1f03fd)
			return true;
	return false;
}
#else
/* call *%reg */
static __always_inline bool register_call_ends(__u64 before)
{
	return (before >> 48 & 0xf8ff) == 0xd0ff;
}

/* 0: it is a system call. */
static __always_inline __u64 from_syscall(const __u8 code[2])
{
	return (code[0] ^ 0x0f) | (code[1] ^ 0x05);
}

/* Does it end the thread: mov of a number that ends in 60 to eax or al; syscall?
 * verifier: no branches, which the loop would multiply */
static __always_inline bool ends_thread(const __u8 code[EXIT_BYTES])
{
	__u64 found = 0;

	for (int i = 3; i < 10; i++) /* 0, less 1: all bits */
		found |= ((code[i] ^ 60) |
			  from_syscall(code + i + 1) * from_syscall(code + i + 4)) -
			 1;
	return found >> 63;
}

/* Does it set rbp to 0: xor or sub of itself, in their two forms? */
static __always_inline bool zeroes_fp(const __u8 code[BEGIN_BYTES])
{
	__u64 found = 0;

	for (int i = 0; i < BEGIN_BYTES - 1; i++) {
		__u64 form = code[i] & 0xfd;

		/* 0, less 1: all bits */
		found |= ((code[i + 1] ^ 0xed) | ((form ^ 0x31) * (form ^ 0x29))) - 1;
	}
	return found >> 63;
}
#endif

/*
 * Does a thread begin at this call? What clone() starts in the middle of a function calls
 * what it was given, and ends itself when that returns. The function's own callers are
 * its maker's.
 */
static __always_inline bool begins_thread(const struct code_around *code)
{
	return register_call_ends(code->before) && ends_thread((const __u8 *)code->after);
}

#endif
