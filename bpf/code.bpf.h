/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the code around an address says, where no table does: a call that ends there, the
 * return from a signal handler, or an instruction that says where its caller is.
 */
#ifndef WEFT_CODE_BPF_H
#define WEFT_CODE_BPF_H

#include "maps.bpf.h"
#include "shared/inline_switch.h"

#if defined(__TARGET_ARCH_arm64)
/* mov x8, #139; svc #0 */
#define RESTORER_CODE 0xd4000001d2801168ULL, 0
/* mov w8, #139; svc */
#define RESTORER_OTHER	    0xd400000152801168ULL
#define RESTORER_OTHER_BITS 64
#define RESTORER_SECOND	    4
#define RESTORER_BYTES	    8
#else
/* mov $15, %rax; syscall */
#define RESTORER_CODE	    0x0f0000000fc0c748ULL, 0x05
/* mov $15, %eax; syscall */
#define RESTORER_OTHER	    0x050f0000000fb8ULL
#define RESTORER_OTHER_BITS 56
#define RESTORER_SECOND	    7
#define RESTORER_BYTES	    9
#endif

#define CODE_BEFORE 8

/* Code around an address that no table tells of. */
struct code_around {
	__u64 before;
	__u64 after[2];
};

static __always_inline bool restores(const __u64 code[2])
{
	const __u64 restorer[] = { RESTORER_CODE };

	return (code[0] == restorer[0] && code[1] == restorer[1]) ||
	       code[0] << (64 - RESTORER_OTHER_BITS) ==
		       RESTORER_OTHER << (64 - RESTORER_OTHER_BITS);
}

static __always_inline bool is_restorer(__u64 pc)
{
	__u64 code[2] = { 0 };

	return read_user(code, RESTORER_BYTES, pc) && restores(code);
}

#if defined(__TARGET_ARCH_arm64)
/* bl, blr, blraa and its like */
static __always_inline bool call_ends(__u64 before)
{
	__u32 insn = before >> 32;

	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000 ||
	       (insn & 0xfefff800) == 0xd63f0800;
}

/* Where the call leads that ends at pc, before which this code lies: bl; false: it is
 * none that says so. */
static __always_inline bool call_target(__u64 before, __u64 pc, __u64 *ret)
{
	__u32 insn = before >> 32;

	*ret = pc - 4 + (__s64)((__s32)(insn << 6) >> 4);
	return (insn & 0xfc000000) == 0x94000000;
}

/* b, br, braa and its like */
static __always_inline bool jumps(__u32 insn)
{
	return (insn & 0xfc000000) == 0x14000000 || (insn & 0xfffffc1f) == 0xd61f0000 ||
	       (insn & 0xfefff800) == 0xd61f0800;
}

/* Is there a jump among this code? */
static __always_inline __u64 may_jump(__u64 word)
{
	return jumps(word) || jumps(word >> 32);
}

#define LEAF_RETURN_BYTES 4
#define IMM12(insn)	  ((insn) >> 10 & 0xfff)

/* stp x29, x30, [sp, #-N]! */
static __always_inline bool pushes_fp(__u32 insn)
{
	return (insn & 0xffe07fff) == 0xa9a07bfd;
}

/* In two steps: sub sp, sp, #N; stp x29, x30, [sp, #K] */
static __always_inline bool makes_frame(__u32 insn)
{
	return (insn & 0xffc003ff) == 0xd10003ff;
}

static __always_inline bool saves_fp(__u32 insn)
{
	return (insn & 0xffe07fff) == 0xa9007bfd;
}

/* add x29, sp, #K, or mov x29, sp */
static __always_inline bool sets_fp(__u32 insn)
{
	return (insn & 0xffc003ff) == 0x910003fd;
}

/* add sp, sp, #N */
static __always_inline bool drops_frame(__u32 insn)
{
	return (insn & 0xffc003ff) == 0x910003ff;
}

/* ret, retaa, retab */
static __always_inline bool returns(__u32 insn)
{
	return insn == 0xd65f03c0 || (insn & 0xfffffbff) == 0xd65f0bff;
}

/* What may come before it: paciasp, pacibsp, bti c, bti jc; autiasp, autibsp */
static __always_inline bool signs(__u32 insn)
{
	return (insn & 0xffffffbf) == 0xd503233f || (insn & 0xffffff7f) == 0xd503245f;
}

static __always_inline bool authenticates(__u32 insn)
{
	return (insn & 0xffffffbf) == 0xd50323bf;
}

/* Of a leaf that sets its frame pointer: the frame's bytes, and of these those below the
 * record; 0: its code does not say. */
static __always_inline __u32 frame_bytes(__u32 insn, __u64 before, __u32 *ret_below)
{
	__u32 last = before >> 32;
	int words = (__s32)(last << 10) >> 25;

	*ret_below = IMM12(insn);
	if (pushes_fp(last))
		return *ret_below ? 0 : -8 * words;
	return saves_fp(last) && makes_frame(before) && *ret_below == 8 * words
		       ? IMM12((__u32)before)
		       : 0;
}

/* A trampoline of gcc's for nested functions: [bti c]; ldr x17; ldr x18; br x17 */
static __always_inline bool loads_x17(__u32 insn)
{
	return (insn & 0xff00001f) == 0x58000011;
}

static __always_inline bool loads_x18(__u32 insn)
{
	return (insn & 0xff00001f) == 0x58000012;
}

static __always_inline bool is_trampoline(__u32 insn, __u32 next, __u32 last)
{
	return (loads_x17(insn) && loads_x18(next)) ||
	       (loads_x17(last) && loads_x18(insn)) ||
	       (loads_x18(last) && insn == 0xd61f0220) ||
	       (signs(insn) && loads_x17(next));
}

/* The link register leads to the caller; what has been taken of the stack. */
static __always_inline bool is_before_frame(__u32 insn, __u32 next, __u32 last,
					    __u32 *ret_taken)
{
	*ret_taken = 0;
	if (returns(insn) || pushes_fp(insn) || (signs(insn) && pushes_fp(next)) ||
	    (makes_frame(insn) && saves_fp(next)) ||
	    (authenticates(insn) && returns(next)) || is_trampoline(insn, next, last))
		return true;
	*ret_taken = IMM12(drops_frame(insn) ? insn : last);
	return (saves_fp(insn) && makes_frame(last)) ||
	       (drops_frame(insn) && returns(next));
}

/*
 * The rule for a leaf at this code, if the instruction there says it. *ret_saves_fp: it
 * holds if the frame pointer at hand is what was saved last.
 */
static __always_inline bool leaf_rule(__u64 code, __u64 before, struct unwind_rule *ret,
				      bool *ret_saves_fp)
{
	__u32 bytes, below;
	short words;

	bytes = sets_fp(code) ? frame_bytes(code, before, &below) : 0;
	*ret_saves_fp = bytes;
	if (bytes) {
		words = -(short)((bytes - below) / 8);
		*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
					     .cfa_offset = bytes,
					     .fp = UNWIND_FP_CFA,
					     .fp_words = words,
					     .ra_words = words + 1 };
		return true;
	}
	if (!is_before_frame(code, code >> 32, before >> 32, &bytes))
		return false;
	*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .cfa_offset = bytes,
				     .ra = UNWIND_RA_LR };
	return true;
}

/* A frame that keeps its caller's address has a record of it, which the frame pointer
 * leads to. */
static __always_inline bool drops_and_returns(__u64 code, struct unwind_rule *ret)
{
	return false;
}

/* What is read here is in leaf_rule(). */
static __always_inline bool is_before_prologue(const __u64 *words)
{
	return false;
}

/* No runtime is known that switches stacks within a function here. */
static __always_inline bool is_torn(const __u64 *words)
{
	return false;
}
#else
#define EACH(byte) ((byte)*0x0101010101010101ULL)

/* 0x80 in each byte that is 0xff. */
static __always_inline __u64 bytes_ff(__u64 word)
{
	return ((word & EACH(0x7f)) + EACH(1)) & word & EACH(0x80);
}

/* 0x80 in each byte that could say /2 behind an opcode. */
static __always_inline __u64 bytes_slash_2(__u64 word)
{
	return (EACH(0x80) - ((word ^ EACH(0x10)) & EACH(0x38))) & EACH(0x80);
}

#define FF_2_BYTES 0x80808080808000ULL /* it has two to seven bytes */

/* call rel32, or what could be ff /2: user space looks more closely. All bytes at once:
 * one after another they would be as many ways to go, and as much code. */
static __always_inline bool call_ends(__u64 before)
{
	return (__u8)(before >> 24) == 0xe8 ||
	       bytes_ff(before) & bytes_slash_2(before >> 8) & FF_2_BYTES;
}

/* Where the call leads that ends at pc, before which this code lies: call rel32; false:
 * it is none that says so. */
static __always_inline bool call_target(__u64 before, __u64 pc, __u64 *ret)
{
	*ret = pc + (__s64)(__s32)(before >> 32);
	return (__u8)(before >> 24) == 0xe8;
}

/* 0x80 in each byte that is 0, and perhaps in one above it. */
static __always_inline __u64 zero_bytes(__u64 word)
{
	return (word - EACH(1)) & ~word & EACH(0x80);
}

/* Is there a jump among this code, perhaps? Every byte is asked: jmp, in its three forms,
 * and what a stub pushes. */
static __always_inline __u64 may_jump(__u64 word)
{
	return zero_bytes(word ^ EACH(0xe9)) | zero_bytes(word ^ EACH(0xeb)) |
	       zero_bytes(word ^ EACH(0x68)) |
	       (zero_bytes(~word) & zero_bytes((word >> 8 ^ EACH(0x20)) & EACH(0x38)));
}

#define LEAF_RETURN_BYTES 1
#define ENDBR64		  0xfa1e0ff3
#define POP_FP		  0x5d
#define FP_BYTES	  16 /* of a frame that is nothing but its record */

/* mov %rsp,%rbp, in both forms */
static __always_inline bool sets_fp(__u32 code)
{
	return (code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48;
}

static __always_inline bool pushes_fp(__u32 code)
{
	return (__u8)code == 0x55 && sets_fp(code >> 8);
}

#define RET 0xc3

#define VZEROUPPER 0x77f8c5

/* ret, with a prefix perhaps, and with what it drops; or what LLVM puts before it where
 * vectors were at work, behind pop %rbp */
static __always_inline bool returns(__u32 code)
{
	__u8 first = code;

	if (first == 0xf3 || first == 0xf2)
		first = code >> 8;
	else if ((code & 0xffffff) == VZEROUPPER)
		first = code >> 24;
	return first == RET || first == 0xc2;
}

/* The return address lies behind so many bytes of the stack. */
#define RULE_BEHIND(bytes)                                                               \
	((struct unwind_rule){                                                           \
		.cfa = UNWIND_CFA_SP, .cfa_offset = (bytes) + 8, .ra_words = -1 })

/*
 * Does the code drop a frame of so many bytes and return: ret, perhaps behind add
 * $N,%rsp? It holds of whatever runs next, so of what a call returns to, too: of
 * python's trampolines (-X perf), which keep no frame pointer.
 */
static __always_inline bool drops_and_returns(__u64 code, struct unwind_rule *ret)
{
	__s32 bytes = 0;

	if ((code & 0xff80ffffffULL) == (0xc48348ULL | (__u64)RET << 32))
		bytes = code >> 24 & 0x7f;
	else if ((code & 0xffffffULL) == 0xc48148 && code >> 56 == RET)
		bytes = code >> 24;
	else if ((__u8)code != RET)
		return false;
	*ret = RULE_BEHIND(bytes);
	return bytes >= 0 && !(bytes & 7);
}

/*
 * Behind pop %rbp, V8 looks how many arguments it has to drop: cmp $N,%rcx; jg over the
 * return, which is 3 bytes long.
 */
static __always_inline bool compares_before_return(__u64 code, __u64 before)
{
	if ((__u8)(before >> 56) == POP_FP)
		return (code & 0xffff00ffffff) == 0x037f00f98348ULL &&
		       returns(code >> 48);
	return (before >> 32 & 0xffffff) == 0xf98348 && (__u16)code == 0x037f &&
	       returns(code >> 16);
}

#define JMP	  0xe9
#define JMP_SHORT 0xeb
#define JMP_REX	  0x41
#define NOTRACK	  0x3e

/* jmp, to wherever */
static __always_inline bool jumps(__u32 code)
{
	__u8 first = code;

	if (first == JMP || first == JMP_SHORT)
		return true;
	if (first == NOTRACK)
		code >>= 8;
	if ((__u8)code == JMP_REX)
		code >>= 8;
	return (code & 0x38ff) == 0x20ff;
}

/* pop %rbp; jmp: another function goes on with this one's return address. */
static __always_inline bool goes_on_in_another(__u64 code, __u64 before)
{
	return (__u8)(before >> 56) == POP_FP && jumps(code);
}

#define CHECK_BYTES 8 /* of code before the jump, at most */

/* Its highest bit: does the code begin so? verifier: no branch, which a loop would
 * multiply */
static __always_inline __u64 jumps_before_push(__u64 code)
{
	__u64 differs = code ^ 0x485500000000850fULL;

	return ((__u16)differs | differs >> 48) - 1;
}

#define MOV_R11	    0xbb49   /* movabs $…,%r11 */
#define MOV_R11D    0xbb41   /* mov $…,%r11d */
#define MOV_R10	    0xba49   /* movabs $…,%r10 */
#define JMP_R11	    0xe3ff41 /* on the stack with REX.W */
#define NOT_REX_W   0xfffff7
#define MOV64_BYTES 10
#define MOV32_BYTES 6

/* Does a mov to r11 begin this code, and one to r10 follow? code: 16 bytes in words. */
static __always_inline bool moves_to_r11(__u64 code, __u64 next)
{
	if ((__u16)code == MOV_R11D)
		return code >> 8 * MOV32_BYTES == MOV_R10;
	return (__u16)code == MOV_R11 &&
	       (__u16)(next >> 8 * (MOV64_BYTES - 8)) == MOV_R10;
}

/*
 * gcc's trampolines of nested functions: [endbr64]; mov to r11; movabs to r10; jmp *%r11.
 * Those on the stack are written each time that their function runs, which costs the CPU
 * so much that most of its samples are there; -ftrampoline-impl=heap has pages of them.
 * code: two words, and two before.
 */
static __always_inline bool is_trampoline(const __u64 *code)
{
	__u64 at = code[0], next = code[1];

	if ((__u32)at == ENDBR64)
		return moves_to_r11(at >> 32 | next << 32, next >> 32);
	if ((__u16)at == MOV_R10)
		return (next >> 16 & NOT_REX_W) == JMP_R11;
	if ((at & NOT_REX_W) == JMP_R11)
		return code[-2] >> 48 == MOV_R10;
	return moves_to_r11(at, next);
}

/*
 * Does a jump on a condition follow, and right behind it push %rbp, and what begins as
 * mov %rsp,%rbp? V8's optimized functions look there whether they are still good, at
 * each call: mov -8(%rcx),%rbx; testb $1,N(%rbx); jne. code: two words.
 */
static __always_inline bool checks_before_frame(const __u64 *code)
{
	__u64 at = code[0], found = 0;

	for (int i = 0; i < CHECK_BYTES; i++) {
		found |= jumps_before_push(at);
		at = at >> 8 | (code[1] >> 8 * i) << 56;
	}
	return (found | jumps_before_push(at)) >> 63;
}

/* Is nothing on the stack yet but the return address? */
static __always_inline bool is_before_prologue(const __u64 *code)
{
	return checks_before_frame(code) || is_trampoline(code);
}

/*
 * The rule for a leaf at this code, if the instruction there says it. *ret_saves_fp: it
 * holds if the frame pointer at hand is what was saved last.
 */
static __always_inline bool leaf_rule(__u64 code, __u64 before, struct unwind_rule *ret,
				      bool *ret_saves_fp)
{
	*ret_saves_fp = sets_fp(code);
	if (*ret_saves_fp || ((__u8)code == POP_FP && returns(code >> 8))) {
		*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
					     .cfa_offset = FP_BYTES,
					     .fp = UNWIND_FP_CFA,
					     .fp_words = -FP_BYTES / 8,
					     .ra_words = -1 };
		return true;
	}
	if (drops_and_returns(code, ret))
		return true;
	*ret = RULE_BEHIND(0);
	/* pop 8(%rbp): who calls a function of SBCL's has made the frame for it, and it
	 * puts its return address there */
	if ((code & 0xffffff) == 0x08458f) {
		ret->fp = UNWIND_FP_DEREF;
		return true;
	}
	return returns(code) || pushes_fp(code) ||
	       ((__u32)code == ENDBR64 && pushes_fp(code >> 32)) ||
	       compares_before_return(code, before) || goes_on_in_another(code, before);
}

static __always_inline bool is_torn(const __u64 *words)
{
	return inline_switch_is_torn(words);
}
#endif

/* Does a call end at this address? False also where the code can't be read. */
static __always_inline bool is_called(__u64 pc)
{
	__u64 before;

	return read_user(&before, CODE_BEFORE, pc - CODE_BEFORE) && call_ends(before);
}

#endif
