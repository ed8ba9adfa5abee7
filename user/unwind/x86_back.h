/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the caller's frame pointer is, told backwards: a function that returns has put it
 * back by then, so whoever pops it before a ret pops it from where it was saved. So it is
 * known in pieces of code that nobody knows the entry of, as behind a jump through a
 * table.
 */
#ifndef WEFT_UNWIND_X86_BACK_H
#define WEFT_UNWIND_X86_BACK_H

#include <stdint.h>

enum x86_back_is {
	X86_BACK_OPEN,	/* no way to a return was found */
	X86_BACK_IN_FP, /* in the register, still or again */
	X86_BACK_SAVED, /* in memory, `depth` bytes below the CFA */
	X86_BACK_LOST,	/* ways say different things, or lead nobody knows where */
};

struct x86_back {
	uint8_t is;
	uint8_t turn; /* of going through all of them, in which it was found */
	int32_t depth;
};

struct x86_flow;
struct unwind_rule;

/* Of all instructions, once they were followed. */
void x86_back_read(struct x86_flow *flow);

/* Completes a rule that lost the frame pointer, of a whole that keeps it. */
void x86_back_complete(const struct x86_back *back, struct unwind_rule *rule);

#endif
