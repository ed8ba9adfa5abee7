// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of a function to a part of its own, which works with the function's stack: it
 * takes its return address off first, and puts it back before it returns. PCRE2's
 * generated code is full of these.
 */
#include "obj/x86_insn.h"
#include "unwind/x86_flow_parts.h"

#include <string.h>

#define UPPER_PREFIX	    0x41 /* of r8 to r15 */
#define POPPED_RETURN_BYTES 6	 /* pop, lfence and jmp, without it */
#define LOCAL_INSNS_MAX	    512	 /* that are looked at for the end of a part */

/* The instruction there, and where the next one lies; false: there is none. */
static bool read_insn(const struct x86_flow *flow, size_t *at, struct x86_effect *ret)
{
	bool calls;
	size_t n = *at < flow->n_bytes
			   ? x86_insn_bytes(flow->code + *at, flow->n_bytes - *at, &calls)
			   : 0;

	if (n)
		*ret = x86_effect(flow->code + *at, n);
	*at += n;
	return n != 0;
}

/* The register that is popped there; X86_NO_REG: none is. */
static int read_pop(const struct x86_flow *flow, size_t *at)
{
	struct x86_effect is;

	return read_insn(flow, at, &is) && is.pushed == -X86_SLOT_BYTES ? is.sets
									: X86_NO_REG;
}

int x86_flow_returns_by(const struct x86_flow *flow, size_t at)
{
	static const uint8_t lfence[] = { 0x0f, 0xae, 0xe8 };
	const uint8_t *code = flow->code + at, *pop, *jump;
	size_t left = flow->n_bytes - at, prefix = left && code[0] == UPPER_PREFIX;

	if (left < POPPED_RETURN_BYTES + 2 * prefix)
		return X86_NO_REG;
	pop = code + prefix;
	jump = pop + 1 + sizeof(lfence);
	if ((*pop & 0xf8) != 0x58 || memcmp(pop + 1, lfence, sizeof(lfence)) ||
	    (prefix && *jump++ != UPPER_PREFIX) || jump[0] != 0xff ||
	    jump[1] != (0xe0 | (*pop & 7)))
		return X86_NO_REG;
	return (*pop & 7) + (prefix ? 8 : 0);
}

bool x86_flow_puts_back(const struct x86_flow *flow, size_t at)
{
	int reg = read_pop(flow, &at);
	struct x86_effect is;

	return reg != X86_NO_REG && read_insn(flow, &at, &is) && is.pushes == reg;
}

bool x86_flow_takes_return_address(const struct x86_flow *flow, size_t at)
{
	size_t behind = at;

	return read_pop(flow, &behind) != X86_NO_REG && !x86_flow_puts_back(flow, at) &&
	       x86_flow_returns_by(flow, at) == X86_NO_REG;
}

bool x86_flow_returns_to_pushed(const struct x86_flow *flow, uint32_t number)
{
	const struct flow_insn *insns = flow->insns.items, *before;

	if (!number)
		return false;
	before = &insns[number - 1];
	return before->n && before->at + before->n == insns[number].at &&
	       x86_effect(flow->code + before->at, before->n).pushed == X86_SLOT_BYTES;
}

/* Straight on, since both ways of a branch have the same on the stack where they meet. */
static bool begins_part(const struct x86_flow *flow, uint32_t number)
{
	int pushed = 0;

	for (size_t i = number; i < flow->insns.n && i < number + LOCAL_INSNS_MAX; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];
		struct x86_effect is;

		if (!insn->n)
			return false;
		is = x86_effect(flow->code + insn->at, insn->n);
		if (is.returns)
			return !pushed && x86_flow_returns_to_pushed(flow, (uint32_t)i);
		pushed += is.pushed;
		if (is.leaves || is.sp != X86_SP_MOVED ||
		    (i == number && pushed != -X86_RETURN_BYTES))
			return false;
	}
	return false;
}

/* Asked of a place but once, however many calls lead there. */
bool x86_flow_is_local(struct x86_flow *flow, uint32_t number)
{
	struct flow_insn *insn = &flow->insns.items[number];

	if (insn->part == X86_UNKNOWN)
		insn->part = begins_part(flow, number) ? X86_IS_PART : X86_IS_NO_PART;
	return insn->part == X86_IS_PART;
}
