// SPDX-License-Identifier: BSD-2-Clause
/*
 * The code is cut into instructions (x86_cut.c). Then pieces are followed (x86_follow.c)
 * from where they are entered: what is called, and what follows an instruction that never
 * goes on. Where a way leads into another piece, both are one from then on
 * (x86_pieces.h). At first calls are hoped to come back; where what follows from that is
 * odd, they are not (x86_calls.c). Threads that are begun are left to themselves
 * (x86_clone.c). Jumps through tables lead to all of their cases (x86_tables.c). Code
 * that takes its arguments off the stack is followed from where its functions begin
 * (x86_begins.c). What came of it is told in x86_rows.c.
 */
#include "unwind/x86_flow.h"

#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"
#include "obj/x86_insn.h"
#include "unwind/x86_flow_parts.h"

#include <errno.h>

#define DOUBTS	      5		 /* times that calls are followed with less hope */
#define HELPERS_BYTES (1u << 20) /* that are looked at, each time */

void x86_flow_free(struct x86_flow *flow)
{
	if (!flow)
		return;
	vec_free(&flow->insns);
	vec_free(&flow->tables);
	vec_free(&flow->cases);
	vec_free(&flow->pieces.list);
	vec_free(&flow->open);
	hmap_free(&flow->firsts);
	free(flow);
}

size_t x86_flow_find_insn(const struct x86_flow *flow, size_t at)
{
	const struct flow_insn *insns = flow->insns.items;
	size_t i = LOWER_BOUND(flow->insns.n, k, insns[k].at < at);

	return i < flow->insns.n && insns[i].at == at && insns[i].n ? i
								    : X86_FLOW_NO_INSN;
}

/* It may be called from anywhere. */
static void find_taken(struct x86_flow *flow, const struct flow_insn *insn)
{
	uint64_t end = flow->vaddr + insn->at + insn->n, taken;
	size_t found;

	if (!insn->n ||
	    !x86_insn_takes_address(flow->code + insn->at, insn->n, end, &taken))
		return;
	found = x86_flow_find_insn(flow, taken - flow->vaddr);
	if (found != X86_FLOW_NO_INSN)
		flow->insns.items[found].is_taken = true;
}

static bool is_afar(int64_t distance)
{
	return distance > (int64_t)X86_FLOW_AROUND ||
	       distance < -(int64_t)X86_FLOW_AROUND;
}

/* To what lies around the code at hand: a piece may be a part of it that begins here, but
 * further away another function does, or what compilers have put aside. */
static uint32_t target_around(const struct x86_flow *flow, int64_t at, int64_t distance)
{
	bool is_around = at < 0 ? (uint64_t)-at <= flow->before
				: (uint64_t)at - flow->n_bytes < flow->behind;

	if (!is_around)
		return X86_FLOW_OUTSIDE;
	return is_afar(distance) ? X86_FLOW_FAR : X86_FLOW_ASKEW;
}

/* A conditional jump from so far that it leads to another function. */
static void count_afar(struct x86_flow *flow, const struct flow_insn *insn,
		       int64_t distance)
{
	struct flow_insn *target = &flow->insns.items[insn->target];

	if (is_afar(distance) && target->n_afar < X86_FLOW_MANY &&
	    x86_insn_condition(flow->code + insn->at, insn->n) >= 0)
		target->n_afar++;
}

static void find_target(struct x86_flow *flow, struct flow_insn *insn)
{
	int64_t distance, to;
	size_t found;

	if (!insn->n || !x86_insn_distance(flow->code + insn->at, insn->n, &distance))
		return;
	to = (int64_t)insn->at + insn->n + distance;
	if (to < 0 || to >= (int64_t)flow->n_bytes) {
		insn->target = insn->calls ? X86_FLOW_OUTSIDE
					   : target_around(flow, to, distance);
		return;
	}
	found = x86_flow_find_insn(flow, (size_t)to);
	insn->target = found == X86_FLOW_NO_INSN ? X86_FLOW_ASKEW : (uint32_t)found;
	if (found != X86_FLOW_NO_INSN)
		count_afar(flow, insn, distance);
	insn->is_local = insn->calls && distance && found != X86_FLOW_NO_INSN &&
			 x86_flow_is_local(flow, (uint32_t)found);
	if (insn->is_local)
		return;
	if (insn->calls && found != X86_FLOW_NO_INSN)
		flow->insns.items[found].is_called = true;
	insn->makes_room = insn->calls && distance &&
			   x86_flow_takes_return_address(flow, (size_t)to);
}

/* Of tables: each is an instruction, or the whole is none. */
static void find_cases(struct x86_flow *flow)
{
	for (size_t i = 0; i < flow->tables.n; i++) {
		struct x86_table *table = &flow->tables.items[i];
		uint32_t *cases = flow->cases.items + table->first;
		bool is_one = true;

		for (uint32_t k = 0; k < table->n; k++) {
			cases[k] = (uint32_t)x86_flow_find_insn(flow, cases[k]);
			is_one &= cases[k] != X86_FLOW_NO_INSN;
		}
		if (!is_one)
			table->n = 0;
	}
}

/* Each is a piece by itself, whoever jumps there first. */
static int follow_what_is_called(struct x86_flow *flow)
{
	const struct flow_insn *insns = flow->insns.items;
	int err = 0;

	for (uint32_t i = 0; !err && i < flow->insns.n; i++)
		if (insns[i].is_called)
			err = x86_flow_begin(flow, i);
	if (!err)
		err = x86_flow_follow(flow);
	for (uint32_t i = 0; !err && i < flow->insns.n; i++)
		if (insns[i].is_called && insns[i].frame.sp.from == X86_ENTRY)
			x86_pieces_end_at(&flow->pieces, insns[i].piece,
					  insns[i].frame.sp.at);
	return err;
}

static int follow_the_rest(struct x86_flow *flow)
{
	const struct flow_insn *insns = flow->insns.items;
	int err = 0;

	for (uint32_t i = 0; !err && i < flow->insns.n; i++)
		if (insns[i].piece == X86_FLOW_NO_INSN && insns[i].n &&
		    !x86_flow_is_padding(flow, &insns[i]))
			err = x86_flow_follow_from(flow, i);
	return err;
}

/* Does a jump, both ends of which were followed apart, lead to another stack pointer? */
static bool leads_to_other_depth(const struct x86_flow *flow,
				 const struct flow_insn *insn)
{
	int from, to;

	return insn->is_apart && x86_flow_find_depth(flow, insn, &from) &&
	       x86_flow_find_depth(flow, &flow->insns.items[insn->target], &to) &&
	       from != to;
}

/* All are compared first, while what they lead to is known. */
static void check_apart(struct x86_flow *flow)
{
	for (size_t i = 0; i < flow->insns.n; i++)
		flow->insns.items[i].is_apart =
			leads_to_other_depth(flow, &flow->insns.items[i]);
	for (size_t i = 0; i < flow->insns.n; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];

		if (!insn->is_apart)
			continue;
		x86_pieces_spoil(&flow->pieces, insn->piece);
		x86_pieces_spoil(&flow->pieces, flow->insns.items[insn->target].piece);
	}
}

/* What lies above its own return address was not understood. */
static void check_insns(struct x86_flow *flow)
{
	for (size_t i = 0; i < flow->insns.n; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];
		int depth;

		if (!x86_flow_find_depth(flow, insn, &depth) || depth >= X86_RETURN_BYTES)
			continue;
		if (depth || !i || !x86_flow_puts_back(flow, insn[-1].at))
			x86_pieces_spoil(&flow->pieces, insn->piece);
	}
}

/* Where a jump through a table may lead: the piece that begins behind it, if it is known
 * how deep the stack is there. */
static bool finds_next(struct x86_flow *flow, size_t number, int *ret_depth)
{
	const struct flow_insn *insns = flow->insns.items;

	do {
		if (++number >= flow->insns.n || !insns[number].n)
			return false;
	} while (insns[number].piece == X86_FLOW_NO_INSN);
	return x86_flow_whole(flow, &insns[number], ret_depth) &&
	       insns[number].frame.sp.from && !insns[number].frame.sp.at;
}

/* A function that goes on through a table is known by that: what is behind its jump
 * returns, with as much on the stack as it has itself, if it began with a return address
 * alone. */
static void follow_tables(struct x86_flow *flow)
{
	for (size_t i = 0; i < flow->insns.n; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];
		struct x86_effect is;
		int lower, depth;

		if (insn->piece == X86_FLOW_NO_INSN || insn->target != X86_FLOW_NO_INSN ||
		    insn->frame.sp.from != X86_ENTRY ||
		    x86_pieces_whole(&flow->pieces, insn->piece, &lower)->is_told)
			continue;
		is = x86_effect(flow->code + insn->at, insn->n);
		if (is.goes && finds_next(flow, i, &depth) &&
		    depth + insn->frame.sp.at == X86_RETURN_BYTES)
			x86_pieces_end_at(&flow->pieces, insn->piece, 0);
	}
}

/* Behind a call that is not followed a piece may take down what was put up before it: so
 * it did come back. Behind one that is followed nothing new is found. */
static void go_off_behind_calls(struct x86_flow *flow)
{
	const struct flow_insn *insns = flow->insns.items;

	for (size_t i = 0; i + 1 < flow->insns.n; i++) {
		const struct x86_piece *behind;
		int lower;

		if (!insns[i].calls || insns[i].piece == X86_FLOW_NO_INSN ||
		    insns[i + 1].piece == X86_FLOW_NO_INSN ||
		    insns[i].frame.sp.from != X86_ENTRY ||
		    insns[i + 1].frame.sp.from != X86_ENTRY)
			continue;
		behind = x86_pieces_whole(&flow->pieces, insns[i + 1].piece, &lower);
		if (behind->goes_off)
			x86_pieces_go_off_at(&flow->pieces, insns[i].piece,
					     insns[i].frame.sp.at + behind->off_at +
						     lower - insns[i + 1].frame.sp.at);
	}
}

/*
 * What never returns, as main() of a service does, and what calls it. It is a function
 * from its first instruction on if all that it calls is called as functions call. But
 * what goes off with an empty stack may be of another kind: GHC's code keeps no return
 * address there, and calls as it was called.
 */
static void follow_the_endless(struct x86_flow *flow)
{
	go_off_behind_calls(flow);
	for (uint32_t i = 0; i < flow->pieces.list.n; i++) {
		const struct x86_piece *piece = &flow->pieces.list.items[i];
		int lower;

		if (!piece->is_behind_call && !flow->insns.items[piece->first].goes_off &&
		    !x86_pieces_go_off(&flow->pieces, i) &&
		    !x86_pieces_whole(&flow->pieces, i, &lower)->is_told &&
		    x86_pieces_calls_as_begun(&flow->pieces, i))
			x86_pieces_end_at(&flow->pieces, i, 0);
	}
}

static int follow_all(struct x86_flow *flow)
{
	int err;

	flow->pieces.list.n = 0;
	flow->helper_bytes = HELPERS_BYTES;
	for (size_t i = 0; i < flow->insns.n; i++) {
		flow->insns.items[i].piece = X86_FLOW_NO_INSN;
		flow->insns.items[i].is_shared = false;
		flow->insns.items[i].is_apart = false;
	}
	err = follow_what_is_called(flow);
	if (!err)
		err = follow_the_rest(flow);
	follow_tables(flow);
	if (!flow->before && !flow->behind)
		follow_the_endless(flow);
	check_apart(flow);
	check_insns(flow);
	return err;
}

/* What was hoped of calls is doubted where it makes no sense. */
static int follow_hoped(struct x86_flow *flow)
{
	int err = x86_calls_hope(flow);

	if (!err)
		err = follow_all(flow);
	for (int i = 0; !err && i < DOUBTS && x86_calls_doubt(flow, !i); i++)
		err = follow_all(flow);
	if (err)
		return err;
	x86_calls_pad(flow);
	x86_back_read(flow);
	return 0;
}

int x86_flow_read(const struct x86_code *code, struct x86_flow **ret)
{
	AUTO(x86_flow) flow = calloc(1, sizeof(*flow));
	int err;

	if (!flow)
		return fail(-ENOMEM, "no memory for code");
	flow->code = code->bytes;
	flow->n_bytes = code->n < X86_FLOW_MAX ? code->n : X86_FLOW_MAX;
	flow->vaddr = code->vaddr;
	flow->before = code->before;
	flow->behind = code->behind;
	flow->data = code->data;
	err = x86_flow_cut(flow);
	find_cases(flow);
	for (size_t i = 0; !err && i < flow->insns.n; i++) {
		find_target(flow, &flow->insns.items[i]);
		find_taken(flow, &flow->insns.items[i]);
	}
	if (!err)
		x86_clones_mark(flow);
	flow->takes_args = code->takes_args || x86_flow_takes_args(flow);
	if (!err)
		err = flow->takes_args ? x86_begins_follow(flow) : follow_hoped(flow);
	if (!err)
		*ret = GIVE(flow);
	return err;
}
