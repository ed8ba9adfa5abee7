// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that take their arguments off the stack when they return, as V8's builtins
 * do (docs/decisions/builtins-of-v8.md). Behind a call of one nobody knows how deep the
 * stack is, so what their rets say of it is not believed. But each begins with a return
 * address on top of the stack, so all is known from there to its calls, and behind them
 * wherever it has made a frame.
 */
#include "obj/v8_builtin.h"
#include "unwind/x86_flow_parts.h"

#define TAKEN_SHARE 64 /* of the rets: of V8 1 in 7 takes some, of C none */
#define PLAIN_RET   0xc3

bool x86_flow_takes_args(const struct x86_flow *flow)
{
	size_t n_taking = 0, n_others = 0;

	for (size_t i = 0; i < flow->insns.n; i++) {
		const struct flow_insn *insn = &flow->insns.items[i];
		const uint8_t *code = flow->code + insn->at;

		n_taking += insn->n && x86_insn_takes_args(code, insn->n);
		n_others += insn->n == 1 && *code == PLAIN_RET;
	}
	return n_taking > (n_taking + n_others) / TAKEN_SHARE;
}

static bool begins(const struct x86_flow *flow, const struct flow_insn *insn)
{
	const uint8_t *code = flow->code + insn->at;

	return insn->n && (flow->vaddr + insn->at) % V8_BUILTIN_ALIGN == 0 &&
	       insn->at >= V8_BUILTIN_PADDING && !x86_flow_is_padding(flow, insn) &&
	       v8_builtin_is_before(code - V8_BUILTIN_PADDING);
}

/* What is only returned to, or gone on with, finds no return address on the stack. */
static bool is_called(const struct x86_flow *flow, const struct flow_insn *insn)
{
	return insn->begins && !v8_builtin_is_returned_to(flow->code + insn->at,
							  flow->n_bytes - insn->at);
}

/* Behind a call that doesn't, V8 puts int3. */
static bool comes_back(const struct x86_flow *flow, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number], *next = insn + 1;

	return insn->calls && number + 1 < flow->insns.n && next->n &&
	       flow->code[next->at] != X86_INT3;
}

/* Does it go to another function, or to who called, as far as is known? */
static bool goes_off(const struct x86_flow *flow, const struct flow_insn *insn)
{
	const uint8_t *code = flow->code + insn->at;
	struct x86_effect is = x86_effect(code, insn->n);

	return is.returns || x86_insn_takes_args(code, insn->n) ||
	       (is.goes && (insn->target >= flow->insns.n ||
			    is_called(flow, &flow->insns.items[insn->target])));
}

/* Where the return address was moved, as there are more arguments or less: it is on top
 * of the stack again where the function is left, and as far as before that nothing moves
 * the stack or puts it there. */
static void look_back(struct x86_flow *flow, size_t number)
{
	struct x86_effect is;
	int cfa;

	do {
		struct flow_insn *insn = &flow->insns.items[number];

		if (!x86_flow_whole(flow, insn, &cfa) ||
		    insn->frame.sp.from != X86_NOWHERE ||
		    insn->frame.fp.from == X86_ENTRY || !number)
			return;
		/* the caller's own by now */
		if (insn->frame.callers[X86_FP_CALLERS].is == X86_SAVED)
			insn->frame.callers[X86_FP_CALLERS].is = X86_KEPT;
		insn->frame.sp = (struct x86_place){ cfa - X86_RETURN_BYTES, X86_ENTRY };
		insn = &flow->insns.items[--number];
		if (!insn->n || insn->calls)
			return;
		is = x86_effect(flow->code + insn->at, insn->n);
	} while (is.sp == X86_SP_MOVED && !is.pushed && !is.writes_fp && !is.jumps &&
		 !is.leaves &&
		 !(is.way == X86_STORES && is.base == X86_SP && !is.distance));
}

int x86_begins_follow(struct x86_flow *flow)
{
	struct flow_insn *insns = flow->insns.items;
	int err = 0;

	for (size_t i = 0; i < flow->insns.n; i++) {
		insns[i].begins = begins(flow, &insns[i]);
		insns[i].comes_back = comes_back(flow, i);
	}
	for (uint32_t i = 0; !err && i < flow->insns.n; i++) {
		if (!is_called(flow, &insns[i]))
			continue;
		err = x86_flow_follow_from(flow, i);
		if (!err)
			x86_pieces_end_at(&flow->pieces, insns[i].piece, 0);
	}
	for (size_t i = 0; !err && i < flow->insns.n; i++)
		if (insns[i].piece != X86_FLOW_NO_INSN &&
		    insns[i].frame.sp.from == X86_NOWHERE && goes_off(flow, &insns[i]))
			look_back(flow, i);
	return err;
}
