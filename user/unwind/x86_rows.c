// SPDX-License-Identifier: BSD-2-Clause
/* What is told of code that was followed: the rows of a table. */
#include "unwind/x86_flow_parts.h"

#include "base/search.h"

#include <errno.h>
#include <string.h>

/*
 * Where functions take their arguments off the stack, it is less deep behind a call than
 * before. And who is called may put more below it, so a call is not told of by the stack
 * pointer, since the same is asked for what it comes back to. Such code keeps frame
 * pointers, which lead on better than a rule that loses them.
 */
static bool rule_of_taking(const struct flow_insn *insn, int cfa, struct unwind_rule *ret)
{
	struct x86_frame frame = insn->frame;

	if (frame.fp.from == X86_ENTRY)
		frame.sp.from = X86_NOWHERE;
	else if (insn->calls)
		return false;
	return x86_frame_rule(&frame, cfa, cfa == X86_RETURN_BYTES, ret) &&
	       ret->fp != UNWIND_FP_LOST;
}

/*
 * Of a whole that contradicts itself. A function that others call begins with a return
 * address alone: where its own piece is not what is odd, that is a guess, and a better
 * one than the frame pointer. Where it is, no step may be made by a frame pointer that
 * the function has left alone: it leads to the caller's caller.
 */
static bool rule_of_odd(const struct x86_flow *flow, const struct flow_insn *insn,
			struct unwind_rule *ret)
{
	const struct x86_frame *frame = &insn->frame;
	const struct x86_piece *piece;

	if (insn->piece == X86_FLOW_NO_INSN || flow->takes_args)
		return false;
	piece = &flow->pieces.list.items[insn->piece];
	if (!flow->insns.items[piece->first].is_called || frame->fp.from)
		return false;
	if (!piece->is_odd && frame->sp.from == X86_ENTRY && frame->sp.at <= 0) {
		x86_frame_rule(frame, X86_RETURN_BYTES, true, ret);
		ret->reg = UNWIND_GUESSED;
		return true;
	}
	if (frame->callers[X86_FP_CALLERS].is != X86_KEPT)
		return false;
	*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_TORN };
	return true;
}

static bool rule_of_followed(struct x86_flow *flow, const struct flow_insn *insn,
			     struct unwind_rule *ret)
{
	int cfa;
	const struct x86_piece *whole = x86_flow_whole(flow, insn, &cfa);

	if (insn->is_bottom) {
		*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_END,
					     .reg = UNWIND_BY_CODE };
		return true;
	}
	if (!whole)
		return rule_of_odd(flow, insn, ret);
	if (flow->takes_args)
		return rule_of_taking(insn, cfa, ret);
	if (!x86_frame_rule(&insn->frame, cfa, cfa == X86_RETURN_BYTES, ret))
		return false;
	if (ret->cfa == UNWIND_CFA_SIZED && !whole->gives_size_back)
		return false;
	if (!whole->loses_fp)
		x86_back_complete(&insn->back, ret);
	if (insn->helps && ret->cfa == UNWIND_CFA_REG)
		ret->reg |= UNWIND_KEPT;
	if (insn->clones && ret->cfa == UNWIND_CFA_SP) {
		ret->cfa = UNWIND_CFA_CLONE;
		ret->reg = 0; /* rax */
	}
	if (ret->cfa == UNWIND_CFA_SP || ret->cfa == UNWIND_CFA_FP)
		ret->deref_offset = (short)(~whole->writes & UNWIND_ALONE);
	return true;
}

/* Between a pop that stands for a ret and its jump: all is as at the pop, but the return
 * address is in a register. */
static bool rule_behind_pop(struct x86_flow *flow, const struct flow_insn *insn,
			    struct unwind_rule *ret)
{
	for (int i = 1; i <= 2 && insn - i >= flow->insns.items; i++) {
		int reg =
			insn[-i].n ? x86_flow_returns_by(flow, insn[-i].at) : X86_NO_REG;

		if (reg == X86_NO_REG)
			continue;
		if (!rule_of_followed(flow, insn - i, ret) || ret->cfa != UNWIND_CFA_SP ||
		    ret->cfa_offset != X86_RETURN_BYTES)
			return false;
		ret->cfa_offset = 0;
		ret->ra = UNWIND_RA_REG;
		ret->ra_words = x86_dwarf_number(reg);
		return true;
	}
	return false;
}

static bool rule_of(struct x86_flow *flow, const struct flow_insn *insn,
		    struct unwind_rule *ret)
{
	return rule_behind_pop(flow, insn, ret) || rule_of_followed(flow, insn, ret);
}

bool x86_flow_rule(struct x86_flow *flow, size_t at, struct unwind_rule *ret)
{
	size_t found = x86_flow_find_insn(flow, at);

	return found != X86_FLOW_NO_INSN && rule_of(flow, &flow->insns.items[found], ret);
}

static bool leads_to(const struct x86_flow *flow, uint32_t target, size_t begin,
		     size_t end)
{
	return target < X86_FLOW_NO_TARGET &&
	       flow->insns.items[target].at - begin < end - begin;
}

bool x86_flow_is_led_to(const struct x86_flow *flow, size_t begin, size_t end)
{
	for (size_t i = 0; i < flow->insns.n; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];

		if (insn->n && !insn->calls && insn->at - begin >= end - begin &&
		    (insn->target == X86_FLOW_ASKEW ||
		     leads_to(flow, insn->target, begin, end)))
			return true;
	}
	for (size_t i = 0; i < flow->tables.n; i++) {
		const struct x86_table *table = &flow->tables.items[i];

		for (uint32_t k = 0; k < table->n; k++)
			if (leads_to(flow, flow->cases.items[table->first + k], begin,
				     end))
				return true;
	}
	return false;
}

/* Tells where the rule is met first in the whole that the instruction is a part of:
 * behind the one that makes it so, in code as compilers lay it out. 0 or -ENOMEM. */
static int tell_first(struct x86_flow *flow, const struct flow_insn *insn,
		      const struct unwind_rule *rule, const struct cfi_sink *sink)
{
	int lower;
	const struct x86_piece *whole =
		x86_pieces_whole(&flow->pieces, insn->piece, &lower);
	uint64_t key = (uint64_t)(whole - flow->pieces.list.items) << 32 |
		       (uint32_t)rule->cfa_offset << 4 | rule->cfa;
	uintptr_t first = (uintptr_t)hmap_get(&flow->firsts, key);

	if (!first) {
		first = insn->at + 1;
		if (hmap_put(&flow->firsts, key, (void *)first))
			return -ENOMEM;
	}
	sink->first(sink->arg, flow->vaddr + first - 1);
	return 0;
}

int x86_flow_tell(struct x86_flow *flow, size_t begin, size_t end,
		  const struct cfi_sink *sink)
{
	static const struct unwind_rule none;
	const struct flow_insn *insns = flow->insns.items;
	struct unwind_rule rule, last = none;
	bool tells_first;
	int err = 0;

	for (size_t i = LOWER_BOUND(flow->insns.n, k, insns[k].at < begin);
	     !err && i < flow->insns.n && insns[i].at < end; i++) {
		if (!rule_of(flow, &insns[i], &rule))
			rule = none;
		tells_first = sink->first && rule.cfa != UNWIND_CFA_NONE;
		if (tells_first)
			err = tell_first(flow, &insns[i], &rule, sink);
		if (!err && (tells_first || memcmp(&rule, &last, sizeof(rule))))
			err = sink->row(sink->arg, flow->vaddr + insns[i].at, &rule);
		last = rule;
	}
	if (!err && last.cfa != UNWIND_CFA_NONE)
		err = sink->row(sink->arg, flow->vaddr + end, &none);
	return err;
}
