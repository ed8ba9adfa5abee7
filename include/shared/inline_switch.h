/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A switch of stacks in the middle of a function, as Cranelift makes it for WebAssembly
 * (stack switching). Once it has loaded both sp and fp of the other stack, the pc of this
 * function goes with the other stack's frames, until it jumps:
 *
 *	mov %rax,%rbp               fp is the other stack's
 *	mov 0x10(%rsi),%rax
 *	lea 6(%rip),%rdx            where this stack goes on: behind the jump
 *	mov %rdx,0x10(%rcx)
 *	jmp *%rax
 *
 * Both halves ask for it: ticks in code without a table, user space in compiled files,
 * whose call frame information says nothing of the switch.
 */
#ifndef WEFT_SHARED_INLINE_SWITCH_H
#define WEFT_SHARED_INLINE_SWITCH_H

#define INLINE_SWITCH_BEFORE 16 /* bytes of code before pc */
#define INLINE_SWITCH_WORDS  4

/* 8 bytes of code so many bytes behind pc, a constant. */
static inline __attribute__((always_inline)) unsigned long long
inline_switch_code(const unsigned long long *words, int offset)
{
	unsigned int at = INLINE_SWITCH_BEFORE + offset, bits = 8 * (at % 8);

	if (!bits)
		return words[at / 8];
	return words[at / 8] >> bits | words[at / 8 + 1] << (64 - bits);
}

/* Does such a switch's lea lie so many bytes behind pc, of which so many are the jump's
 * and what lies before it? One more, if the mov has to name its base twice. */
static inline __attribute__((always_inline)) int
inline_switch_lea(const unsigned long long *words, int offset, unsigned int bytes)
{
	/* lea N(%rip) and the mov's prefix; the mov's opcode and its operands */
	return (inline_switch_code(words, offset) & 0xf8ffffffffc7fffbULL) ==
		       (0x4800000000058d48ULL | (unsigned long long)bytes << 24) &&
	       (inline_switch_code(words, offset + 2) >> 48 & 0xc0ff) == 0x4089;
}

/* Words of code from INLINE_SWITCH_BEFORE bytes before the pc of a sampled instruction:
 * has such a switch taken fp, but not yet jumped? x86-64. */
static inline __attribute__((always_inline)) int
inline_switch_is_torn(const unsigned long long words[INLINE_SWITCH_WORDS])
{
	unsigned long long before = words[1] >> 40;
	unsigned long long jump = words[2] & 0xf8ff;

	if ((before & 0xc7ffff) == 0xc58948) /* mov to %rbp */
		return inline_switch_lea(words, 4, 6) || inline_switch_lea(words, 4, 7) ||
		       inline_switch_lea(words, 5, 6) || inline_switch_lea(words, 5, 7);
	if (jump == 0xe0ff)
		return inline_switch_lea(words, -11, 6) ||
		       inline_switch_lea(words, -12, 7);
	return inline_switch_lea(words, 0, 6) || inline_switch_lea(words, 0, 7) ||
	       inline_switch_lea(words, -7, 6) || inline_switch_lea(words, -7, 7);
}

#endif
