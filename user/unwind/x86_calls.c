// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which calls come back. Behind one that doesn't lies another function's code, or
 * nothing.
 */
#include "unwind/x86_flow_parts.h"

#include <string.h>

static bool is_endbr64(const struct x86_flow *flow, const struct flow_insn *insn)
{
	return insn->n && x86_insn_endbr64(flow->code + insn->at, insn->n) == insn->n;
}

/* Is behind this call nothing that another function begins with, or ends before? */
static bool may_come_back(const struct x86_flow *flow, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number], *next = insn + 1;

	return insn->calls && number + 1 < flow->insns.n && next->n &&
	       !x86_flow_is_padding(flow, next) && !is_endbr64(flow, next);
}

void x86_calls_hope(struct x86_flow *flow)
{
	struct flow_insn *insns = flow->insns.items;

	for (size_t i = 0; i < flow->insns.n; i++)
		insns[i].comes_back = insns[i].is_local ||
				      (may_come_back(flow, i) &&
				       (flow->vaddr + insns[i + 1].at) % X86_FLOW_ROUND);
}

/* Does it do nothing, as lea 0(%rsp),%rsp, which mono aligns loops and calls with? */
static bool is_idle(const struct x86_flow *flow, const struct flow_insn *insn)
{
	struct x86_effect is = x86_effect(flow->code + insn->at, insn->n);

	return is.way == X86_COPIES && is.reg == is.base && !is.distance;
}

/* The whole that the i-th piece is of; *ret_begins: it is entered as a function is. */
static struct x86_piece *look_at_begin(const struct x86_flow *flow, uint32_t i,
				       bool *ret_begins)
{
	int lower;
	struct x86_piece *whole = x86_pieces_whole(&flow->pieces, i, &lower);

	*ret_begins = whole->cfa + lower == X86_RETURN_BYTES;
	return whole;
}

/* What follows a call that is not followed may be anything, and begin with padding. */
static bool is_behind_call(const struct x86_flow *flow, uint32_t i)
{
	const struct x86_piece *piece = &flow->pieces.list.items[i];

	return piece->is_behind_call || is_idle(flow, &flow->insns.items[piece->first]);
}

/* A piece that is entered from nowhere is a function, which begins with its return
 * address alone, or a part of one that was begun before and goes on through a table. */
static void look_for_doubts(struct x86_flow *flow)
{
	bool begins;

	for (uint32_t i = 0; i < flow->pieces.list.n; i++) {
		struct x86_piece *whole = look_at_begin(flow, i, &begins);

		whole->is_begun |= begins && !is_behind_call(flow, i);
	}
	for (uint32_t i = 0; i < flow->pieces.list.n; i++) {
		struct x86_piece *whole = look_at_begin(flow, i, &begins);

		begins |= whole->is_begun || is_behind_call(flow, i);
		whole->is_doubted |= whole->is_bad || !begins ||
				     (whole->leaves &&
				      whole->cfa - whole->left_at != X86_RETURN_BYTES);
		flow->insns.items[flow->pieces.list.items[i].first].goes_off |=
			x86_pieces_go_off(&flow->pieces, i);
	}
}

static bool is_doubted(const struct x86_pieces *pieces, uint32_t number)
{
	int lower;
	const struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	return whole->is_doubted || !whole->is_begun;
}

static bool is_sure(const struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	return number != X86_FLOW_NO_INSN && !is_doubted(pieces, number) &&
	       x86_pieces_whole(pieces, number, &lower)->returns;
}

/* What begins behind the call and the padding there, and is come to from nowhere; NULL:
 * nothing. */
static const struct flow_insn *begins_behind(const struct x86_flow *flow, size_t call)
{
	const struct flow_insn *insns = flow->insns.items;
	const struct x86_piece *whole;
	int lower;

	do {
		if (++call >= flow->insns.n || !insns[call].n)
			return NULL;
	} while (x86_flow_is_padding(flow, &insns[call]));
	if (insns[call].piece == X86_FLOW_NO_INSN)
		return NULL;
	whole = x86_pieces_whole(&flow->pieces, insns[call].piece, &lower);
	return whole->first == call && !whole->is_joined ? &insns[call] : NULL;
}

/*
 * Does a function that never returns go on behind this call and padding, as before the
 * head of a loop? That calls with the stack as it finds it: so it is no function of its
 * own; and nobody else knows where it is.
 */
static bool leads_to_loop(struct x86_flow *flow, const struct flow_insn *call)
{
	const struct flow_insn *head =
		begins_behind(flow, (size_t)(call - flow->insns.items));
	struct x86_piece *whole;
	int depth, lower;

	if (!head || head->is_called || head->is_taken ||
	    x86_flow_find_depth(flow, head, &depth) ||
	    !x86_pieces_calls_as_within(&flow->pieces, head->piece) ||
	    !x86_flow_find_depth(flow, call, &depth) || depth % X86_CALL_ALIGN)
		return false;
	/* what calls are within it are told by that, and not to be doubted */
	x86_pieces_end_at(&flow->pieces, head->piece, depth - X86_RETURN_BYTES);
	whole = x86_pieces_whole(&flow->pieces, head->piece, &lower);
	whole->is_doubted = false;
	whole->is_begun = true;
	return true;
}

/* True if there is one now, or is none any more since it makes no sense. */
static bool look_for_loop(struct x86_flow *flow, struct flow_insn *call)
{
	if (call->leads_to_loop && is_doubted(&flow->pieces, call->piece))
		call->leads_to_none = true;
	else if (call->comes_back || call->leads_to_none || !leads_to_loop(flow, call))
		return false;
	call->leads_to_loop = call->comes_back = !call->leads_to_none;
	return true;
}

static bool look_for_loops(struct x86_flow *flow)
{
	bool any = false;

	for (size_t i = 0; i < flow->insns.n; i++) {
		struct flow_insn *insn = &flow->insns.items[i];

		if (insn->calls && insn->piece != X86_FLOW_NO_INSN)
			any |= look_for_loop(flow, insn);
	}
	return any;
}

/* Is what lies behind a call of the same whole, by jumps that lead there or from there,
 * with the stack as the call finds it? Then it comes back: another function would begin
 * with a return address alone, and none calls with such a stack. */
static bool leads_within(const struct x86_flow *flow, const struct flow_insn *call)
{
	const struct flow_insn *behind = call + 1;
	int depth, depth_behind, lower;

	return behind->piece != X86_FLOW_NO_INSN &&
	       x86_flow_find_depth(flow, call, &depth) &&
	       x86_flow_find_depth(flow, behind, &depth_behind) &&
	       depth == depth_behind && depth % X86_CALL_ALIGN == 0 &&
	       x86_pieces_whole(&flow->pieces, call->piece, &lower) ==
		       x86_pieces_whole(&flow->pieces, behind->piece, &lower);
}

/* Of a whole that is doubted some calls may not come back: then none is followed, but
 * those to code that was seen to return. True if any is another than before. */
bool x86_calls_doubt(struct x86_flow *flow)
{
	const struct x86_pieces *pieces = &flow->pieces;
	struct flow_insn *insns = flow->insns.items;
	bool any;

	look_for_doubts(flow);
	any = look_for_loops(flow);
	for (size_t i = 0; i < flow->insns.n; i++) {
		struct flow_insn *insn = &insns[i];
		bool was = insn->comes_back;

		if (insn->piece == X86_FLOW_NO_INSN || !may_come_back(flow, i) ||
		    insn->leads_to_loop || insn->is_local)
			continue;
		/* of one that is gone on behind that says nothing */
		insn->leads_within |= !was && leads_within(flow, insn);
		if (insn->leads_within || (insn->target < X86_FLOW_NO_TARGET &&
					   is_sure(pieces, insns[insn->target].piece)))
			insn->comes_back = true;
		else if (is_doubted(pieces, insn->piece))
			insn->comes_back = false;
		any |= insn->comes_back != was;
	}
	return any;
}
