// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/stack_copier.h"

#include "obj/arm64_insn.h"
#include "obj/insn_way.h"
#include "unwind/arm64_stack.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>

/* What an instruction does to the stack pointer. */
struct effect {
	bool takes_result;  /* of a call, as it is in the register for that */
	bool adds;	    /* what is in a register */
	bool writes_result; /* that register */
	bool writes_fp;
};

#define RESULT 0 /* the register of either machine: rax, x0 */

/* add %reg, %rsp: 3 bytes */
static bool adds_to_sp(const uint8_t *code, size_t n)
{
	return n == 3 && (code[0] & 0xfb) == 0x48 && code[1] == 0x01 &&
	       (code[2] & 0xc7) == 0xc4;
}

static struct effect effect_x86(const uint8_t *code, size_t n)
{
	const struct x86_effect is = x86_effect(code, n);

	return (struct effect){
		.takes_result = is.sp == X86_SP_TAKEN && is.from == RESULT,
		.adds = adds_to_sp(code, n),
		.writes_result = is.writes >> RESULT & 1,
		.writes_fp = is.writes_fp,
	};
}

/* add sp, sp, reg */
static bool arm64_adds_to_sp(uint32_t insn)
{
	return (insn & 0xffe0e3ff) == 0x8b2063ff;
}

static struct effect effect_arm64(const uint8_t *code)
{
	struct arm64_effect is;
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	is = arm64_effect(insn);
	return (struct effect){
		.takes_result = is.sp == ARM64_SP_TAKEN && is.from == RESULT,
		.adds = arm64_adds_to_sp(insn),
		.writes_result = is.sets >> RESULT & 1,
		.writes_fp = is.sets >> ARM64_FP & 1,
	};
}

/* mov %rax, %rsp in both its forms, or an addition */
static bool may_take_x86(const uint8_t *code)
{
	static const uint8_t moves[][3] = { { 0x48, 0x89, 0xc4 }, { 0x48, 0x8b, 0xe0 } };

	return !memcmp(code, moves[0], sizeof(moves[0])) ||
	       !memcmp(code, moves[1], sizeof(moves[1])) ||
	       adds_to_sp(code, sizeof(moves[0]));
}

static bool may_take_arm64(const uint8_t *code)
{
	const struct effect does = effect_arm64(code);

	return does.takes_result || does.adds;
}

bool stack_copier_may_take(uint16_t machine, const uint8_t *code, size_t n)
{
	bool is_x86 = machine == EM_X86_64;
	size_t step = is_x86 ? 1 : ARM64_INSN_BYTES, last = is_x86 ? 3 : ARM64_INSN_BYTES;

	for (size_t at = 0; at + last <= n; at += step)
		if (is_x86 ? may_take_x86(code + at) : may_take_arm64(code + at))
			return true;
	return false;
}

bool stack_copier_find(const struct function_code *in, struct stack_copier *ret)
{
	bool called = false, taken = false;
	bool has_result = false; /* of the last call */
	struct insn_way is;

	for (size_t at = 0;
	     at < in->n && insn_way_read(in->machine, in->code + at, in->n - at, &is);
	     at += is.bytes) {
		const struct effect does = in->machine == EM_X86_64
						   ? effect_x86(in->code + at, is.bytes)
						   : effect_arm64(in->code + at);

		if (taken && is.calls) {
			ret->copied = at + is.bytes;
			return true;
		}
		called |= is.calls;
		if (called && (does.adds || (has_result && does.takes_result))) {
			taken = true;
			*ret = (struct stack_copier){ .taken = at + is.bytes };
		}
		ret->takes_fp |= taken && does.writes_fp;
		taken &= !is.leaves && !is.is_direct;
		has_result = is.calls || (has_result && !does.writes_result);
	}
	return false;
}
