// SPDX-License-Identifier: BSD-2-Clause
/*
 * Helpers that leave registers alone which a call may change: assembly keeps in one of
 * them where its stack was before it was aligned (x264's and SVT-AV1's).
 */
#include "unwind/x86_flow_parts.h"
#include "unwind/x86_stack.h"

/* Is the register, which a call may change, the same behind whatever that function does?
 * All its jumps stay within: it is read to its end. */
static bool leaves_alone(struct x86_flow *flow, uint32_t number, int reg)
{
	const struct flow_insn *insns = flow->insns.items;
	uint32_t end = number; /* the farthest instruction that a jump leads to */

	for (uint32_t i = number; i < flow->insns.n && flow->helper_insns; i++) {
		uint32_t target = insns[i].target;
		struct x86_effect is = x86_flow_effect(flow, i);

		flow->helper_insns--;
		if (!insns[i].n || is.writes >> reg & 1)
			return false;
		if (target == X86_FLOW_NO_INSN
			    ? is.leaves && !is.returns
			    : target < number || target >= flow->insns.n)
			return false;
		if (target != X86_FLOW_NO_INSN && target > end)
			end = target;
		if (is.leaves && i >= end)
			return true;
	}
	return false;
}

bool x86_flow_helps(struct x86_flow *flow, const struct flow_insn *call)
{
	const struct x86_frame *frame = &call->frame;

	return call->calls && call->target < flow->insns.n && !call->is_local &&
	       frame->kept_in != X86_NO_REG && frame->sp.from == X86_ALIGNED &&
	       X86_LOST_IN_A_CALL >> frame->kept_in & 1 &&
	       leaves_alone(flow, call->target, frame->kept_in);
}
