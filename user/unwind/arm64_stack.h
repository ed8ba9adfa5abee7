/* SPDX-License-Identifier: BSD-2-Clause */
/* What an arm64 instruction does to the stack pointer, and which registers it writes. */
#ifndef WEFT_UNWIND_ARM64_STACK_H
#define WEFT_UNWIND_ARM64_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define ARM64_NO_REG (-1)
#define ARM64_FP     29
#define ARM64_LR     30

enum arm64_sp {
	ARM64_SP_MOVED, /* by a constant, which may be 0 */
	ARM64_SP_BACK,	/* to somewhere in its own frame */
	ARM64_SP_TAKEN, /* from a register */
	ARM64_SP_LOST,
};

struct arm64_effect {
	enum arm64_sp sp;
	int pushed;    /* MOVED: bytes */
	int from;      /* TAKEN: the register */
	int keeps;     /* the register that now holds the stack pointer */
	uint32_t sets; /* registers that now hold something, by bit; bit 31 is of none */
	bool calls;
	bool leaves; /* never goes on behind itself */
	bool jumps;  /* may go on elsewhere */
};

struct arm64_effect arm64_effect(uint32_t insn);

#endif
