// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_back.h"

#include "unwind/x86_flow_parts.h"

#define SWEEPS 16 /* what is changing then is not told of */

static const struct x86_back lost = { .is = X86_BACK_LOST };
static const struct x86_back in_fp = { .is = X86_BACK_IN_FP };

/* How far below the CFA lies base + distance? False: nobody knows. */
static bool find_depth(const struct flow_insn *insn, int cfa, int base, int distance,
		       int *ret)
{
	struct x86_place place = x86_frame_place(&insn->frame, base, distance);

	*ret = cfa - place.at;
	return place.from == X86_ENTRY;
}

static struct x86_back meet(struct x86_back a, struct x86_back b)
{
	if (a.is == X86_BACK_OPEN)
		return b;
	if (b.is == X86_BACK_OPEN || (a.is == b.is && a.depth == b.depth))
		return a;
	return lost;
}

/* Does it go on within its function, wherever a register or memory says? Then nothing is
 * known by that way, but others may tell. */
static bool goes_within(const struct flow_insn *insn, const struct x86_effect *is,
			int cfa)
{
	int depth;

	return is->goes && insn->target == X86_FLOW_NO_INSN &&
	       find_depth(insn, cfa, X86_SP, 0, &depth) && depth != X86_RETURN_BYTES;
}

/* Behind the instruction, whichever way it goes. */
static struct x86_back behind(const struct x86_flow *flow, const struct flow_insn *insn,
			      const struct x86_effect *is, int cfa)
{
	const struct flow_insn *insns = flow->insns.items;
	struct x86_back back = { 0 };
	bool goes = is->jumps || is->goes,
	     knows_where = insn->target < X86_FLOW_NO_TARGET;
	int depth;

	if (goes && knows_where)
		back = insns[insn->target].back;
	else if (goes && insn->target == X86_FLOW_OUTSIDE && is->goes &&
		 find_depth(insn, cfa, X86_SP, 0, &depth) && depth == X86_RETURN_BYTES)
		back = in_fp; /* to another function, as if that were called instead */
	else if ((goes && !goes_within(insn, is, cfa)) ||
		 (insn->calls && !insn->comes_back))
		return lost;
	if (x86_flow_goes_on(flow, (uint32_t)(insn - insns), is))
		back = meet(back, insn[1].back);
	return back;
}

/* Before an instruction behind which it is in the register. */
static struct x86_back before_in_fp(const struct flow_insn *insn,
				    const struct x86_effect *is, int cfa,
				    bool *ret_is_broken)
{
	struct x86_back back = { .is = X86_BACK_SAVED };
	bool loads = is->way == X86_LOADS && is->reg == X86_FP;

	if (!is->drops && !is->writes_fp)
		return in_fp;
	if (is->drops
		    ? find_depth(insn, cfa, X86_FP, 0, &back.depth)
		    : loads && find_depth(insn, cfa, is->base, is->distance, &back.depth))
		return back;
	*ret_is_broken = true;
	return lost;
}

/* Before one behind which it lies in memory. */
static struct x86_back before_saved(const struct flow_insn *insn,
				    const struct x86_effect *is, int cfa,
				    struct x86_back saved)
{
	int depth, stack;

	if (is->way == X86_STORES &&
	    find_depth(insn, cfa, is->base, is->distance, &depth) && depth == saved.depth)
		return is->reg == X86_FP ? in_fp : lost;
	if (!find_depth(insn, cfa, X86_SP, 0, &stack))
		return saved; /* an aligned one lies below it */
	if (is->pushes == X86_FP && stack + X86_SLOT_BYTES == saved.depth)
		return in_fp;
	return stack >= saved.depth ? saved : lost; /* it was not on the stack yet */
}

static struct x86_back before(struct x86_flow *flow, const struct flow_insn *insn,
			      bool *ret_is_broken)
{
	struct x86_effect is =
		x86_flow_effect(flow, (uint32_t)(insn - flow->insns.items));
	struct x86_back back;
	int cfa;

	if (!x86_flow_whole(flow, insn, &cfa))
		return lost;
	if (is.returns)
		return in_fp;
	back = behind(flow, insn, &is, cfa);
	if (back.is == X86_BACK_IN_FP)
		return before_in_fp(insn, &is, cfa, ret_is_broken);
	if (back.is == X86_BACK_SAVED)
		return before_saved(insn, &is, cfa, back);
	return back;
}

/* Whether it may have changed since it was last looked at. */
static bool is_stale(const struct x86_flow *flow, const struct flow_insn *insn,
		     uint8_t turn)
{
	const struct flow_insn *insns = flow->insns.items;
	size_t next = (size_t)(insn - insns) + 1;

	return turn == 1 || (next < flow->insns.n && insns[next].back.turn + 1 >= turn) ||
	       (insn->target < X86_FLOW_NO_TARGET &&
		insns[insn->target].back.turn + 1 >= turn);
}

/* True if any is another than before. Where they do not come to rest, all are lost. */
static bool sweep(struct x86_flow *flow, uint8_t turn)
{
	bool any = false;

	for (size_t i = flow->insns.n; i-- > 0;) {
		struct flow_insn *insn = &flow->insns.items[i];
		bool is_broken = false;
		struct x86_back back;
		int lower;

		if (insn->piece == X86_FLOW_NO_INSN || !insn->n ||
		    !is_stale(flow, insn, turn))
			continue;
		back = before(flow, insn, &is_broken);
		if (is_broken || turn > SWEEPS)
			x86_pieces_whole(&flow->pieces, insn->piece, &lower)->loses_fp =
				true;
		if (back.is == insn->back.is && back.depth == insn->back.depth)
			continue;
		insn->back = back;
		insn->back.turn = turn;
		any = true;
	}
	return any;
}

void x86_back_read(struct x86_flow *flow)
{
	uint8_t turn = 1;

	while (turn <= SWEEPS + 1 && sweep(flow, turn))
		turn++;
}

void x86_back_complete(const struct x86_back *back, struct unwind_rule *rule)
{
	if (rule->fp != UNWIND_FP_LOST)
		return;
	if (back->is == X86_BACK_IN_FP) {
		rule->fp = UNWIND_FP_SAME;
	} else if (back->is == X86_BACK_SAVED && back->depth > 0 &&
		   back->depth % X86_SLOT_BYTES == 0) {
		rule->fp = UNWIND_FP_CFA;
		rule->fp_words = (short)(-back->depth / X86_SLOT_BYTES);
	}
}
