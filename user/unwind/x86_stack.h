/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an x86-64 instruction does to the stack and frame pointers, and which other
 * registers hold something else behind it. In doubt it is the worst: that nothing is
 * known of one.
 */
#ifndef WEFT_UNWIND_X86_STACK_H
#define WEFT_UNWIND_X86_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_NO_REG (-1)
#define X86_BX	   3
#define X86_SP	   4
#define X86_FP	   5

/* The registers that a call may change, by bit: the ABI's. */
#define X86_LOST_IN_A_CALL 0xfc7u

enum x86_sp {
	X86_SP_MOVED,	/* by a constant, which may be 0 */
	X86_SP_BACK,	/* to somewhere in its own frame */
	X86_SP_TAKEN,	/* from a register, or from memory that is not the stack's */
	X86_SP_LOWERED, /* by what a register holds */
	X86_SP_RAISED,	/* the same */
	X86_SP_LOST,
};

/* What it copies, as an unwinder would: all 8 bytes, by one register. */
enum x86_way {
	X86_NO_COPY,
	X86_COPIES, /* reg = base + distance */
	X86_LOADS,  /* reg = *(base + distance) */
	X86_STORES, /* *(base + distance) = reg */
	X86_PUSHES, /* the same word once more, on the stack */
};

struct x86_effect {
	enum x86_sp sp;
	int pushed; /* MOVED: bytes */
	int from;   /* TAKEN, LOWERED, RAISED: the register, or X86_NO_REG */
	int keeps;  /* the register that now holds the stack pointer */
	int sets;   /* a register that now holds something else, as far as told */
	enum x86_way way;
	int reg, base, distance;
	int sums;	  /* a register that now is a sum, or another one's value */
	unsigned int sum; /* of these, by bit: if one was the stack's, so may it be */
	unsigned int
		writes; /* registers, by bit; sp only where nothing else tells of it */
	bool aligns;	/* the stack pointer, LOST: down to a round address */
	int pushes;	/* a register, or X86_NO_REG */
	bool drops;	/* leave: its frame, and pops the frame pointer */
	bool writes_fp; /* or may */
	bool leaves;	/* never goes on behind itself */
	bool returns;	/* and so to its caller */
	bool jumps;	/* may go on elsewhere */
	bool goes;	/* LEAVES: by a jump, perhaps to what lies right behind */
};

/* code: one whole instruction, of n bytes (x86_insn_bytes()). */
struct x86_effect x86_effect(const uint8_t *code, size_t n);

#endif
