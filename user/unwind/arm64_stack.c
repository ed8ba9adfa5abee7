// SPDX-License-Identifier: BSD-2-Clause
/* Encodings: Arm Architecture Reference Manual for A-profile, C4.1. */
#include "unwind/arm64_stack.h"

#include "obj/arm64_insn.h"

#define SP	31
#define ADD_IMM 0x91000000 /* Rd, Rn, #imm; of 64 bits */
#define SUB_IMM 0xd1000000
#define AND_IMM 0x92000000

static unsigned int reg_at(uint32_t insn, int bit)
{
	return insn >> bit & 31;
}

/* So many bits of it from there, with their sign. */
static int signed_at(uint32_t insn, int bit, int bits)
{
	return (int)(insn << (32 - bit - bits)) >> (32 - bits);
}

static void take_sp(struct arm64_effect *is, unsigned int from)
{
	is->sp = from == SP	    ? ARM64_SP_LOST
		 : from == ARM64_FP ? ARM64_SP_BACK
				    : ARM64_SP_TAKEN;
	is->from = (int)from;
}

static void look_at_immediate(struct arm64_effect *is, uint32_t insn)
{
	unsigned int to = reg_at(insn, 0), from = reg_at(insn, 5);
	uint32_t what = insn & 0xff800000;
	int by = (int)(insn >> 10 & 0xfff) << (insn >> 22 & 1 ? 12 : 0);

	if (to == SP && from == SP && (what == ADD_IMM || what == SUB_IMM))
		is->pushed = what == ADD_IMM ? -by : by;
	else if (to == SP && (what == ADD_IMM || what == SUB_IMM || what == AND_IMM))
		take_sp(is, from);
	else
		is->sets = 1u << to;
	if (to != SP && from == SP && (what == ADD_IMM || what == SUB_IMM))
		is->keeps = (int)to;
}

static void look_at_register(struct arm64_effect *is, uint32_t insn)
{
	uint32_t what = insn & 0xffe00000;

	/* add or sub of an extended register */
	if (reg_at(insn, 0) == SP && (what == 0x8b200000 || what == 0xcb200000))
		take_sp(is, reg_at(insn, 5));
	else
		is->sets = 1u << reg_at(insn, 0);
}

/* What it writes back to its base. */
static void move_base(struct arm64_effect *is, uint32_t insn, int by)
{
	if (reg_at(insn, 5) == SP)
		is->pushed = -by;
	else
		is->sets |= 1u << reg_at(insn, 5);
}

static void look_at_pair(struct arm64_effect *is, uint32_t insn)
{
	bool is_vector = insn >> 26 & 1;
	int size = is_vector ? 4 << (insn >> 30) : insn >> 31 ? 8 : 4;

	if (insn >> 22 & 1 && !is_vector)
		is->sets = 1u << reg_at(insn, 0) | 1u << reg_at(insn, 10);
	if (insn >> 23 & 1)
		move_base(is, insn, signed_at(insn, 15, 7) * size);
}

static void look_at_memory(struct arm64_effect *is, uint32_t insn)
{
	bool is_vector = insn >> 26 & 1;

	if ((insn & 0x3a000000) == 0x28000000) {
		look_at_pair(is, insn);
		return;
	}
	/* literal, exclusive and what else there is: in doubt it loads */
	if (!is_vector && ((insn & 0x38000000) != 0x38000000 || insn & 0x00c00000))
		is->sets = 1u << reg_at(insn, 0) | 1u << reg_at(insn, 16);
	if ((insn & 0x3a000000) == 0x38000000 || (insn & 0x3b000000) == 0x18000000)
		is->sets &= 1u << reg_at(insn, 0);
	if ((insn & 0x3b200400) == 0x38000400)
		move_base(is, insn, signed_at(insn, 12, 9));
}

static void look_at_branch(struct arm64_effect *is, uint32_t insn)
{
	bool by_register;
	int64_t distance;

	is->calls = arm64_insn_calls(insn);
	is->leaves = arm64_insn_leaves(insn, &by_register);
	/* b.cond, cbz, tbz; b may lead to what lies behind */
	is->jumps = !is->calls && arm64_insn_distance(insn, &distance);
	if ((insn & 0xfff00000) == 0xd5300000) /* mrs */
		is->sets = 1u << reg_at(insn, 0);
	if (is->calls)
		is->sets = 1u << ARM64_LR;
}

struct arm64_effect arm64_effect(uint32_t insn)
{
	struct arm64_effect is = { .from = ARM64_NO_REG, .keeps = ARM64_NO_REG };
	unsigned int group = insn >> 25 & 15;

	if ((group & 14) == 8)
		look_at_immediate(&is, insn);
	else if ((group & 14) == 10)
		look_at_branch(&is, insn);
	else if ((group & 5) == 4)
		look_at_memory(&is, insn);
	else if ((group & 7) == 5)
		look_at_register(&is, insn);
	else if ((insn & 0xff3ffc00) == 0x9e260000) /* fmov to a register */
		is.sets = 1u << reg_at(insn, 0);
	else if (!group)
		is.leaves = true; /* udf */
	return is;
}
