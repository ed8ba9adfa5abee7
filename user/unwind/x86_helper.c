// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_helper.h"

#include "obj/x86_insn.h"
#include "unwind/x86_frame.h"
#include "unwind/x86_stack.h"

/* How one instruction of a helper leaves the register. */
enum step { STEP_ON, STEP_LAST, STEP_NO };

struct reading {
	int reg;
	size_t end;	 /* behind the farthest instruction that a jump leads to */
	bool has_pushed; /* right before: a ret would go there */
};

/* next: where the one behind it lies, as `end` is counted. */
static enum step step_over(struct reading *reading, const uint8_t *code, size_t n,
			   size_t next)
{
	struct x86_effect is = x86_effect(code, n);
	bool goes_to_pushed = is.returns && reading->has_pushed;
	int64_t distance;

	reading->has_pushed = is.pushed == X86_SLOT_BYTES;
	if (is.writes & 1u << reading->reg)
		return STEP_NO;
	if (x86_insn_distance(code, n, &distance)) {
		if (distance < 0 ? next < (uint64_t)-distance : distance > X86_HELPER_MAX)
			return STEP_NO;
		if (next + (uint64_t)distance >= reading->end)
			reading->end = next + (uint64_t)distance + 1;
	} else if ((is.leaves && !is.returns) || goes_to_pushed) {
		return STEP_NO;
	}
	return is.leaves && reading->end <= next ? STEP_LAST : STEP_ON;
}

bool x86_helper_leaves_alone(const uint8_t *code, size_t n, int reg, size_t *ret_bytes)
{
	struct reading reading = { .reg = reg };
	enum step step = STEP_ON;
	size_t at, one;

	for (at = 0; at < n && step == STEP_ON; at += one) {
		bool calls;

		one = x86_insn_bytes(code + at, n - at, &calls);
		if (!one || calls)
			break;
		step = step_over(&reading, code + at, one, at + one);
	}
	*ret_bytes = at;
	return step == STEP_LAST;
}
