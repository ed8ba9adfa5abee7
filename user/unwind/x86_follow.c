// SPDX-License-Identifier: BSD-2-Clause
/* The ways from where a piece of code is entered, an instruction after the other. */
#include "unwind/x86_flow_parts.h"
#include "unwind/x86_helper.h"

#define COMPARE_BYTES 3 /* of two registers */
#define PROBES_AROUND 4 /* instructions from its step to either end of a loop */

/* What lies behind a call that is not followed begins with more on the stack than its
 * function: the registers that it has left alone are then not its caller's, but as they
 * are known to those of its function whose way it comes to. */
static void take_callers(struct x86_frame *frame, const struct x86_frame *known)
{
	for (size_t i = 0; i < N_X86_CALLERS; i++)
		if (frame->callers[i].is == X86_KEPT)
			frame->callers[i] = known->callers[i];
}

/* A way with this frame, of piece `from`, comes to an instruction. */
static int come_to(struct x86_flow *flow, uint32_t number, uint32_t from,
		   struct x86_frame frame)
{
	struct flow_insn *insn = &flow->insns.items[number];
	int below_from, below_its;

	if (insn->piece == X86_FLOW_NO_INSN) {
		insn->piece = from;
		insn->frame = frame;
		return vec_push(&flow->open, number);
	}
	insn->is_shared |= insn->piece != from;
	/* what takes arguments may push as many words as it is told to */
	if (flow->takes_args && frame.sp.at != insn->frame.sp.at)
		frame.sp.from = X86_NOWHERE;
	if (insn->frame.sp.from == X86_ENTRY && frame.sp.from == X86_ENTRY)
		x86_pieces_unite(&flow->pieces, from, insn->piece,
				 insn->frame.sp.at - frame.sp.at);
	if (x86_pieces_whole(&flow->pieces, from, &below_from) !=
	    x86_pieces_whole(&flow->pieces, insn->piece, &below_its)) {
		x86_pieces_spoil(&flow->pieces, from);
		/* a function that others call is itself, whoever jumps there */
		if (!insn->is_called || frame.sp.from == X86_ENTRY)
			x86_pieces_spoil(&flow->pieces, insn->piece);
		return 0;
	}
	x86_frame_shift(&frame, below_its - below_from);
	if (below_from > below_its)
		take_callers(&frame, &insn->frame);
	switch (x86_frame_meet(&insn->frame, &frame)) {
	case X86_SAME:
		return 0;
	case X86_LESS:
		return vec_push(&flow->open, number);
	case X86_CONTRADICTS:
		break;
	}
	x86_pieces_spoil(&flow->pieces, from);
	return 0;
}

/* With its return address pushed; behind it registers may be anything. */
static int come_to_local(struct x86_flow *flow, const struct flow_insn *call,
			 struct x86_frame *frame)
{
	const struct x86_effect lost = { .from = X86_NO_REG,
					 .keeps = X86_NO_REG,
					 .sets = X86_NO_REG,
					 .sums = X86_NO_REG,
					 .pushes = X86_NO_REG,
					 .writes = ~(1u << X86_SP),
					 .writes_fp = true };
	struct x86_frame within = call->frame;

	if (within.sp.from == X86_ENTRY)
		within.sp.at -= X86_RETURN_BYTES;
	else
		within.sp.from = X86_NOWHERE;
	x86_frame_apply(frame, &lost);
	return come_to(flow, call->target, call->piece, within);
}

/* Does the call leave alone the register that keeps where the stack was? x264 and SVT-AV1
 * align theirs so. */
static bool is_helped(struct x86_flow *flow, const struct flow_insn *call)
{
	int reg = call->frame.kept_in;
	size_t at, left, n;
	bool leaves_alone;

	if (!call->calls || call->target >= flow->insns.n || call->is_local ||
	    reg == X86_NO_REG || call->frame.sp.from != X86_ALIGNED ||
	    !(X86_LOST_IN_A_CALL >> reg & 1))
		return false;
	at = flow->insns.items[call->target].at;
	left = flow->n_bytes - at < X86_HELPER_MAX ? flow->n_bytes - at : X86_HELPER_MAX;
	if (left > flow->helper_bytes)
		return false;
	leaves_alone = x86_helper_leaves_alone(flow->code + at, left, reg, &n);
	flow->helper_bytes -= n;
	return leaves_alone;
}

/* What is called keeps the frame pointer and nothing else. */
static void forget_behind_call(struct x86_frame *frame)
{
	frame->sp.from = frame->slot.from = frame->own_slot.from = X86_NOWHERE;
	frame->kept_in = X86_NO_REG;
	frame->own = 0;
	if (frame->callers[X86_BX_CALLERS].is == X86_KEPT)
		frame->callers[X86_BX_CALLERS].is = X86_LOST;
}

/* Does it read or write the return address, to put it elsewhere? */
static bool moves_return(const struct flow_insn *insn, const struct x86_effect *is)
{
	struct x86_place place;

	if (is->way != X86_LOADS && is->way != X86_STORES && is->way != X86_PUSHES)
		return false;
	place = x86_frame_place(&insn->frame, is->base, is->distance);
	return place.from == X86_ENTRY && !place.at;
}

/* Where functions take their arguments off the stack: behind the instruction. */
static void doubt(const struct flow_insn *insn, const struct x86_effect *is,
		  struct x86_frame *frame)
{
	if (insn->calls)
		forget_behind_call(frame);
	if (frame->sp.from != X86_FOREIGN &&
	    (moves_return(insn, is) || (frame->sp.from == X86_ENTRY && frame->sp.at > 0)))
		frame->sp.from = X86_NOWHERE;
}

/* From a jump to all that its table may lead to. */
static int come_to_cases(struct x86_flow *flow, const struct x86_table *table,
			 uint32_t piece, const struct x86_frame *frame)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < table->n; i++) {
		uint32_t to = flow->cases.items[table->first + i];

		if (!flow->insns.items[to].begins)
			err = come_to(flow, to, piece, *frame);
	}
	return err;
}

static int begin_piece(struct x86_flow *flow, uint32_t number, bool is_behind_call)
{
	uint32_t piece = (uint32_t)flow->pieces.list.n;
	int err = vec_push(&flow->pieces.list,
			   (struct x86_piece){ .of = piece,
					       .first = number,
					       .is_behind_call = is_behind_call });

	return err ? err : come_to(flow, number, piece, x86_frame_at_entry);
}

/*
 * From a jump to what many others lead to from afar, as GraalVM's functions do where
 * their stack or their time is up. They are no parts of one whole because of that: what
 * is odd in one of them would be so in all. Their stack pointers are compared at the end.
 */
static int come_apart(struct x86_flow *flow, uint32_t number, struct x86_frame frame)
{
	struct flow_insn *insn = &flow->insns.items[number];
	int err = insn->piece == X86_FLOW_NO_INSN ? begin_piece(flow, number, false) : 0;

	x86_frame_shift(&frame, insn->frame.sp.at);
	return !err && x86_frame_meet(&insn->frame, &frame) == X86_LESS
		       ? vec_push(&flow->open, number)
		       : err;
}

static bool is_apart(const struct x86_flow *flow, const struct flow_insn *insn,
		     const struct x86_effect *is)
{
	return is->jumps && !flow->takes_args && insn->target < X86_FLOW_NO_TARGET &&
	       flow->insns.items[insn->target].n_afar == X86_FLOW_MANY &&
	       insn->frame.sp.from == X86_ENTRY && !insn->frame.sp.at;
}

/*
 * Does a loop end there that probes the pages of a large frame, one each time
 * (-fstack-clash-protection): cmp %reg,%rsp; jne? The register keeps where it ends.
 */
static bool ends_probes(const struct x86_flow *flow, uint32_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number];
	int reg = insn->frame.kept_in;
	const uint8_t *compare;

	if (!number || reg == X86_NO_REG || insn->target >= number ||
	    x86_insn_condition(flow->code + insn->at, insn->n) != X86_IF_NOT_EQUAL)
		return false;
	compare = flow->code + flow->insns.items[number - 1].at;
	return flow->insns.items[number - 1].n == COMPARE_BYTES &&
	       compare[0] == (0x48 | (reg & 8) >> 1) && compare[1] == 0x39 &&
	       compare[2] == (0xc4 | (reg & 7) << 3);
}

/* or or xor of 0 to what lies at the stack pointer, or above: it changes nothing. */
static bool is_probe(const struct x86_flow *flow, uint32_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number];
	const uint8_t *code = flow->code + insn->at, *end = code + insn->n;

	code += insn->n && *code == 0x48;
	return end - code >= 4 && (code[0] == 0x80 || code[0] == 0x83) &&
	       (code[1] >> 6) != 3 &&
	       ((code[1] & 0x3f) == 0x0c || (code[1] & 0x3f) == 0x34) &&
	       code[2] == 0x24 && !end[-1];
}

/*
 * Does it take the next page of as many as alloca() was asked for, each of which is
 * probed before the loop goes on? So it comes from nobody knows how far below the entry.
 */
static bool steps_by_pages(const struct x86_flow *flow, uint32_t number,
			   const struct x86_effect *is)
{
	if (is->sp != X86_SP_MOVED || is->pushed <= 0 || is->pushes != X86_NO_REG ||
	    !number || number + PROBES_AROUND > flow->insns.n ||
	    (!is_probe(flow, number - 1) && !is_probe(flow, number + 1)))
		return false;
	for (uint32_t i = number + 1; i < number + PROBES_AROUND; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];

		if (!insn->calls && insn->target <= number)
			return number - insn->target <= PROBES_AROUND;
	}
	return false;
}

/* Where an instruction jumps to, and what is known behind it if it does not. */
static int come_elsewhere(struct x86_flow *flow, uint32_t number, struct x86_frame *frame)
{
	struct flow_insn *insn = &flow->insns.items[number];
	struct x86_frame there = *frame;
	uint32_t target = insn->target;

	if (insn->is_apart)
		return come_apart(flow, target, there);
	if (target == X86_FLOW_ASKEW)
		x86_pieces_spoil(&flow->pieces, insn->piece);
	if (target >= X86_FLOW_FAR || flow->insns.items[target].begins)
		return 0;
	if (ends_probes(flow, number)) {
		there.sp.from = X86_NOWHERE;
		frame->sp = (struct x86_place){ frame->kept, X86_ENTRY };
	}
	return come_to(flow, target, insn->piece, there);
}

/* What the instruction is to its piece. */
static void tell_piece(struct x86_flow *flow, const struct flow_insn *insn,
		       const struct x86_effect *is, bool goes_off)
{
	const struct x86_frame *frame = &insn->frame;
	struct x86_pieces *pieces = &flow->pieces;
	uint32_t piece = insn->piece;

	x86_pieces_write(pieces, piece, is->writes);
	if (insn->calls)
		x86_pieces_call(pieces, piece);
	if (insn->calls && frame->sp.from == X86_ENTRY)
		x86_pieces_call_at(pieces, piece, frame->sp.at);
	if (frame->sp.from == X86_ENTRY && is->returns)
		x86_pieces_return_at(pieces, piece, frame->sp.at);
	else if (frame->sp.from == X86_ENTRY && is->goes &&
		 insn->target == X86_FLOW_OUTSIDE)
		x86_pieces_leave_at(pieces, piece, frame->sp.at);
	if (frame->sp.from == X86_ENTRY && goes_off)
		x86_pieces_go_off_at(pieces, piece, frame->sp.at);
	if (x86_frame_copies_return(frame, is))
		x86_pieces_end_at(pieces, piece, 0);
	if (x86_frame_gives_size_back(frame, is))
		x86_pieces_give_size_back(pieces, piece);
}

static int go_on(struct x86_flow *flow, uint32_t number)
{
	struct flow_insn *insn = &flow->insns.items[number];
	struct x86_effect is = x86_flow_effect(flow, number);
	struct x86_frame frame = insn->frame;
	uint32_t target = insn->target, piece = insn->piece;
	bool goes_elsewhere = (is.jumps && insn->begins_thread != X86_WHERE_IT_JUMPS) ||
			      (is.goes && target != X86_FLOW_NO_INSN);
	const struct x86_table *table = is.goes && target == X86_FLOW_NO_INSN
						? x86_tables_find(flow, insn)
						: NULL;
	int err = 0;

	if (x86_insn_leaves_handler(flow->code, insn->at, insn->n)) {
		x86_pieces_spoil(&flow->pieces, piece);
		return 0;
	}
	tell_piece(flow, insn, &is, is.goes && target >= X86_FLOW_ASKEW && !table);
	insn->is_apart = is_apart(flow, insn, &is);
	insn->helps = is_helped(flow, insn);
	if (insn->helps)
		is.writes &= ~(1u << frame.kept_in);
	x86_frame_apply(&frame, &is);
	if (insn->makes_room || steps_by_pages(flow, number, &is))
		frame.sp.from = X86_NOWHERE;
	if (flow->takes_args) {
		doubt(insn, &is, &frame);
		if (frame.sp.from == X86_FOREIGN)
			return 0;
	}
	if (insn->is_local)
		err = come_to_local(flow, insn, &frame);
	if (!err && table)
		err = come_to_cases(flow, table, piece, &frame);
	if (!err && goes_elsewhere)
		err = come_elsewhere(flow, number, &frame);
	if (!err && x86_flow_goes_on(flow, number, &is) &&
	    insn->begins_thread != X86_WHERE_IT_GOES_ON &&
	    !flow->insns.items[number + 1].begins)
		err = come_to(flow, number + 1, piece, frame);
	return err;
}

int x86_flow_begin(struct x86_flow *flow, uint32_t number)
{
	const struct flow_insn *before = number ? &flow->insns.items[number - 1] : NULL;
	bool is_behind_call =
		before ? before->calls && before->callee != X86_NEVER_RETURNS
		       : flow->before != 0;

	return begin_piece(flow, number, is_behind_call);
}

int x86_flow_follow(struct x86_flow *flow)
{
	int err = 0;

	while (!err && flow->open.n)
		err = go_on(flow, flow->open.items[--flow->open.n]);
	return err;
}

int x86_flow_follow_from(struct x86_flow *flow, uint32_t number)
{
	int err = x86_flow_begin(flow, number);

	return err ? err : x86_flow_follow(flow);
}
