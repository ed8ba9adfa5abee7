// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which calls come back. Behind one that doesn't lies another function's code, or
 * nothing.
 */
#include "unwind/x86_flow_parts.h"

#include "base/vec.h"

#include <string.h>

#define LAST_SHARE    16 /* of the calls of what never returns */
#define RETURNS_LEAST 4	 /* calls of what is known to return */
#define MARKED_LEAST  16 /* calls, */
#define OTHERS_SHARE  8	 /* of which no more than one in so many is not */

static bool is_endbr64(const struct x86_flow *flow, const struct flow_insn *insn)
{
	return insn->n && x86_insn_endbr64(flow->code + insn->at, insn->n) == insn->n;
}

/* Does a nop follow the call, as each of its kind? */
static bool is_marked(const struct x86_flow *flow, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number], *next = insn + 1;

	return insn->calls && number + 1 < flow->insns.n && next->n == 1 &&
	       flow->code[next->at] == X86_NOP;
}

/* Compilers' calls may have one behind them, where a function or the head of a loop is
 * aligned; GraalVM's have it where they return to. */
static bool marks_calls(const struct x86_flow *flow)
{
	size_t n_others = 0, n = 0;

	for (size_t i = 0; i < flow->insns.n; i++) {
		n += flow->insns.items[i].calls;
		n_others += flow->insns.items[i].calls && !is_marked(flow, i);
	}
	return n >= MARKED_LEAST && n_others <= n / OTHERS_SHARE;
}

/* Is behind this call nothing that another function begins with, or ends before? */
static bool may_come_back(const struct x86_flow *flow, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number], *next = insn + 1;

	if (flow->marks_calls)
		return is_marked(flow, number);
	return insn->calls && number + 1 < flow->insns.n && next->n &&
	       !x86_flow_is_padding(flow, next) && !is_endbr64(flow, next);
}

/* A call, and where it leads. */
struct site {
	uint64_t callee;
	uint32_t insn;
	bool is_last; /* a function begins behind it */
};

struct sites {
	VEC(struct site) all;
};

static int by_callee(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* One that others call or know of. */
static bool is_before_function(const struct x86_flow *flow, size_t call)
{
	const struct flow_insn *insns = flow->insns.items;

	do {
		if (++call >= flow->insns.n || !insns[call].n)
			return false;
	} while (x86_flow_is_padding(flow, &insns[call]));
	return insns[call].is_called || insns[call].is_taken;
}

static int find_sites(const struct x86_flow *flow, struct sites *ret)
{
	const struct flow_insn *insns = flow->insns.items;
	int64_t distance;
	int err = 0;

	for (uint32_t i = 0; !err && i < flow->insns.n; i++)
		if (insns[i].calls && !insns[i].is_local &&
		    x86_insn_distance(flow->code + insns[i].at, insns[i].n, &distance))
			err = vec_push(&ret->all,
				       (struct site){ flow->vaddr + insns[i].at +
							      insns[i].n +
							      (uint64_t)distance,
						      i, is_before_function(flow, i) });
	if (!err)
		vec_sort(&ret->all, by_callee);
	return err;
}

/* Of all that call the same. */
static void judge_callee(struct x86_flow *flow, const struct site *sites, size_t n)
{
	size_t n_last = 0;

	for (size_t i = 0; i < n; i++)
		n_last += sites[i].is_last;
	for (size_t i = 0; i < n; i++) {
		struct flow_insn *insn = &flow->insns.items[sites[i].insn];

		if (n_last && n_last * LAST_SHARE >= n)
			insn->callee = X86_NEVER_RETURNS;
		else if (!n_last && n >= RETURNS_LEAST)
			insn->callee = X86_RETURNS;
	}
}

/* Behind a call of what never returns (exit(), what reports errors) the next function may
 * begin. That is seen where somebody calls it; then no other call of the same comes back
 * either, but for assembly, and for data among the code. */
static int judge_callees(struct x86_flow *flow)
{
	struct sites sites = { 0 };
	int err = find_sites(flow, &sites);
	const struct site *all = sites.all.items;

	for (size_t i = 0, n; !err && i < sites.all.n; i += n) {
		for (n = 1; i + n < sites.all.n && all[i + n].callee == all[i].callee;)
			n++;
		judge_callee(flow, all + i, n);
	}
	vec_free(&sites.all);
	return err;
}

/* Before anything was followed. Behind a call another function may begin on an aligned
 * address; but what never returns is not called through a register or memory. */
static bool is_hoped(const struct x86_flow *flow, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number];

	return may_come_back(flow, number) && insn->callee != X86_NEVER_RETURNS &&
	       (insn->callee == X86_RETURNS || insn->target == X86_FLOW_NO_INSN ||
		flow->marks_calls || (flow->vaddr + insn[1].at) % X86_FLOW_ROUND);
}

int x86_calls_hope(struct x86_flow *flow)
{
	struct flow_insn *insns = flow->insns.items;
	int err = judge_callees(flow);

	flow->marks_calls = marks_calls(flow);
	for (size_t i = 0; i < flow->insns.n; i++)
		insns[i].comes_back = insns[i].is_local || is_hoped(flow, i);
	return err;
}

/* Does it do nothing, as lea 0(%rsp),%rsp, which mono aligns loops and calls with? */
static bool is_idle(const struct x86_flow *flow, const struct flow_insn *insn)
{
	struct x86_effect is = x86_effect(flow->code + insn->at, insn->n);

	return is.way == X86_COPIES && is.reg == is.base && !is.distance;
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
	struct x86_piece *whole;
	int lower;

	for (uint32_t i = 0; i < flow->pieces.list.n; i++) {
		whole = x86_pieces_whole(&flow->pieces, i, &lower);
		whole->is_begun |= whole->cfa + lower == X86_RETURN_BYTES &&
				   !is_behind_call(flow, i);
	}
	for (uint32_t i = 0; i < flow->pieces.list.n; i++) {
		whole = x86_pieces_whole(&flow->pieces, i, &lower);
		whole->is_doubted |= whole->is_bad || whole->calls_differ ||
				     (whole->leaves &&
				      whole->cfa - whole->left_at != X86_RETURN_BYTES);
		flow->insns.items[flow->pieces.list.items[i].first].goes_off |=
			x86_pieces_go_off(&flow->pieces, i);
	}
}

/* Also if nobody knows what it is a part of? */
static bool is_doubted(const struct x86_pieces *pieces, uint32_t number, bool if_unknown)
{
	int lower;
	const struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	return whole->is_doubted || (if_unknown && !whole->is_begun);
}

/* Of what is called: does it return? */
static bool is_sure(const struct x86_flow *flow, const struct flow_insn *call)
{
	const struct x86_pieces *pieces = &flow->pieces;
	uint32_t number;
	int lower;

	if (call->callee == X86_NEVER_RETURNS || call->target >= X86_FLOW_NO_TARGET)
		return false;
	number = flow->insns.items[call->target].piece;
	return number != X86_FLOW_NO_INSN && !is_doubted(pieces, number, true) &&
	       x86_pieces_whole(pieces, number, &lower)->returns;
}

/* What lies behind the call and the padding there, and is come to from nowhere; NULL:
 * nothing. */
static const struct flow_insn *find_behind(const struct x86_flow *flow, size_t call)
{
	const struct flow_insn *insns = flow->insns.items;

	do {
		if (++call >= flow->insns.n || !insns[call].n)
			return NULL;
	} while (x86_flow_is_padding(flow, &insns[call]));
	if (insns[call].piece == X86_FLOW_NO_INSN || insns[call].is_shared)
		return NULL;
	return flow->pieces.list.items[insns[call].piece].first == call ? &insns[call]
									: NULL;
}

/*
 * Does a function that never returns go on behind this call and padding, as before the
 * head of a loop? That calls with the stack as it finds it: so it is no function of its
 * own; and nobody else knows where it is.
 */
static bool leads_to_loop(struct x86_flow *flow, const struct flow_insn *call)
{
	const struct flow_insn *head =
		find_behind(flow, (size_t)(call - flow->insns.items));
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
	if (call->callee == X86_NEVER_RETURNS)
		return false;
	if (call->leads_to_loop && is_doubted(&flow->pieces, call->piece, true))
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
static bool leads_within(const struct x86_flow *flow, const struct flow_insn *call,
			 const struct flow_insn *behind)
{
	int depth, depth_behind, lower;

	return behind->piece != X86_FLOW_NO_INSN &&
	       x86_flow_find_depth(flow, call, &depth) &&
	       x86_flow_find_depth(flow, behind, &depth_behind) &&
	       depth == depth_behind && depth % X86_CALL_ALIGN == 0 &&
	       x86_pieces_whole(&flow->pieces, call->piece, &lower) ==
		       x86_pieces_whole(&flow->pieces, behind->piece, &lower);
}

/* True if any call is another than before. */
static bool doubt_calls(struct x86_flow *flow, bool if_unknown)
{
	struct flow_insn *insns = flow->insns.items;
	bool any = false;

	for (size_t i = 0; i < flow->insns.n; i++) {
		struct flow_insn *insn = &insns[i];
		bool was = insn->comes_back;

		if (insn->piece == X86_FLOW_NO_INSN || !may_come_back(flow, i) ||
		    insn->leads_to_loop || insn->is_local)
			continue;
		/* of one that is gone on behind that says nothing */
		insn->leads_within |= !was && leads_within(flow, insn, insn + 1);
		if (insn->leads_within || is_sure(flow, insn))
			insn->comes_back = true;
		else if (is_doubted(&flow->pieces, insn->piece, if_unknown))
			insn->comes_back = false;
		any |= insn->comes_back != was;
	}
	return any;
}

/* Of a whole that is doubted some calls may not come back: then none is followed, but
 * those to code that was seen to return. What it is a part of is found by calls, too, so
 * at first that is no doubt. */
bool x86_calls_doubt(struct x86_flow *flow, bool is_first)
{
	bool any;

	look_for_doubts(flow);
	any = look_for_loops(flow);
	any |= doubt_calls(flow, !is_first);
	return any || (is_first && doubt_calls(flow, true));
}

/* Padding that the call leads through, if it comes back, to what is known to be as deep
 * within the same whole; NULL: it does not. Another function would begin with a return
 * address alone, and none calls with such a stack. */
static struct flow_insn *padding_within(struct x86_flow *flow, struct flow_insn *call)
{
	const struct flow_insn *end = flow->insns.items + flow->insns.n;
	const struct flow_insn *head = call + 1;

	if (!call->calls || call->comes_back || call->makes_room || call->is_bottom ||
	    call->callee == X86_NEVER_RETURNS || call->piece == X86_FLOW_NO_INSN)
		return NULL;
	while (head < end && head->n && head->piece == X86_FLOW_NO_INSN &&
	       x86_flow_is_padding(flow, head) && !head->is_called && !head->is_taken)
		head++;
	if (head == call + 1 || head == end || head->is_called || head->is_taken)
		return NULL;
	return leads_within(flow, call, head) ? call + 1 : NULL;
}

void x86_calls_pad(struct x86_flow *flow)
{
	struct flow_insn *insns = flow->insns.items;

	for (uint32_t i = 0; i < flow->insns.n; i++) {
		struct flow_insn *padding = padding_within(flow, &insns[i]);
		struct x86_frame frame = insns[i].frame;
		struct x86_effect is;

		if (!padding)
			continue;
		is = x86_flow_effect(flow, i);
		x86_frame_apply(&frame, &is);
		for (; padding->piece == X86_FLOW_NO_INSN; padding++) {
			padding->piece = insns[i].piece;
			padding->frame = frame;
		}
	}
}
