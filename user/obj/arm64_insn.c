// SPDX-License-Identifier: BSD-2-Clause
/* Encodings: Arm Architecture Reference Manual for A-profile, C4.1.86, branches. */
#include "obj/arm64_insn.h"

bool arm64_insn_calls(uint32_t insn)
{
	return (insn & 0xfc000000) == 0x94000000 || /* bl */
	       (insn & 0xfefff000) == 0xd63f0000;   /* blr and its like */
}

bool arm64_insn_leaves(uint32_t insn, bool *ret_by_register)
{
	bool is_udf = !(insn >> 16), is_b = (insn & 0xfc000000) == 0x14000000;
	/* br, ret, eret and theirs */
	bool is_other = (insn & 0xfe000000) == 0xd6000000 && !arm64_insn_calls(insn);

	*ret_by_register = (insn & 0xfefff000) == 0xd61f0000;
	return is_udf || is_b || is_other;
}

/* So many bits of it from there, with their sign: words. */
static int64_t words_at(uint32_t insn, int bit, int bits)
{
	return (int32_t)(insn << (32 - bit - bits)) >> (32 - bits);
}

bool arm64_insn_distance(uint32_t insn, int64_t *ret)
{
	int64_t words;

	if ((insn & 0x7c000000) == 0x14000000) /* b, bl */
		words = words_at(insn, 0, 26);
	else if ((insn & 0xff000000) == 0x54000000 || /* b.cond, cbz */
		 (insn & 0x7e000000) == 0x34000000)
		words = words_at(insn, 5, 19);
	else if ((insn & 0x7e000000) == 0x36000000) /* tbz */
		words = words_at(insn, 5, 14);
	else
		return false;
	*ret = words * (int64_t)sizeof(insn);
	return true;
}

bool arm64_insn_is_padding(uint32_t insn)
{
	return insn == ARM64_NOP || !insn || (insn & 0xffe0001f) == 0xd4200000;
}
