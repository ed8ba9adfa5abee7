/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that is followed by its jumps (x86_flow.h), as its parts see it: instructions,
 * what is known at each, and which calls come back.
 */
#ifndef WEFT_UNWIND_X86_FLOW_PARTS_H
#define WEFT_UNWIND_X86_FLOW_PARTS_H

#include "base/hmap.h"
#include "obj/x86_insn.h"
#include "unwind/x86_back.h"
#include "unwind/x86_flow.h"
#include "unwind/x86_frame.h"
#include "unwind/x86_pieces.h"

#define X86_FLOW_MANY	   16
#define X86_FLOW_ROUND	   16 /* what follows data begins on such an address */
#define X86_FLOW_NO_INSN   UINT32_MAX
#define X86_FLOW_NO_TARGET (UINT32_MAX - 3)   /* and above: no instruction's number */
#define X86_FLOW_FAR	   X86_FLOW_NO_TARGET /* out of a function, as long as they are */
#define X86_FLOW_ASKEW	   (UINT32_MAX - 2)   /* to what is no instruction here */
#define X86_FLOW_OUTSIDE   (UINT32_MAX - 1)   /* of the code at hand */

struct flow_insn {
	uint32_t at;
	uint32_t target; /* of a direct jump or call, its number */
	uint32_t piece;	 /* X86_FLOW_NO_INSN: not come to yet */
	uint8_t n;	 /* 0: no instruction, but data */
	bool calls;
	bool is_called;
	bool is_shared;	 /* ways of other pieces lead there, too */
	bool is_apart;	 /* jumps to what many do from afar (x86_follow.c) */
	uint8_t n_afar;	 /* conditional jumps there from so far, up to X86_FLOW_MANY */
	bool makes_room; /* calls, and what is called moves the stack pointer */
	bool is_local;	 /* calls a part of its own function, on that one's stack */
	enum {
		X86_UNKNOWN,
		X86_IS_PART,
		X86_IS_NO_PART
	} part : 8;	 /* does one begin so? */
	bool is_taken;	 /* its address is, by an instruction */
	bool begins;	 /* a function that takes its arguments off the stack */
	bool comes_back; /* calls, and what is called returns */
	enum {
		X86_MAY_RETURN,
		X86_RETURNS,
		X86_NEVER_RETURNS
	} callee : 8;  /* of a direct call */
	bool goes_off; /* what begins with it, as functions end that call another */
	bool leads_to_loop, leads_to_none; /* calls: so it was found, or refuted */
	bool leads_within; /* calls: what is behind is a part of the same, by its jumps */
	bool helps;	   /* calls what leaves alone the register that keeps the CFA */
	bool clones;	   /* from a system call that begins a thread to the jump that */
	enum {
		X86_NO_THREAD,
		X86_WHERE_IT_JUMPS,
		X86_WHERE_IT_GOES_ON
	} begins_thread : 8; /* and is not followed there */
	bool is_bottom;	     /* of such a thread, until it ends itself */
	struct x86_frame frame;
	struct x86_back back;
};

/* A table of what a jump may lead to. */
struct x86_table {
	uint32_t jump;	    /* from the code's beginning, */
	uint32_t at, bytes; /* as the table itself; 0 bytes: it lies elsewhere */
	uint32_t first, n;  /* of all cases, its; 0: it is none */
};

struct x86_flow {
	const uint8_t *code;
	size_t n_bytes;
	uint64_t vaddr;
	uint64_t before, behind; /* bytes of more code around these */
	struct code_pages *data; /* of their file; NULL: it is not there */
	VEC(struct flow_insn) insns;
	VEC(struct x86_table) tables; /* in order of their jumps */
	VEC(uint32_t) cases;	      /* where they are, then their instructions */
	struct x86_pieces pieces;
	VEC(uint32_t) open;  /* come to, and not gone on from */
	bool takes_args;     /* off the stack: so functions here do, as V8's */
	bool marks_calls;    /* each is followed by a nop, as GraalVM's */
	struct hmap firsts;  /* 1 + where a whole's stack is first so deep */
	size_t helper_bytes; /* that may still be looked at to find helpers */
};

static inline bool x86_flow_is_padding(const struct x86_flow *flow,
				       const struct flow_insn *insn)
{
	return x86_insn_is_padding(flow->code + insn->at, insn->n);
}

/* What an instruction is a part of, and how far above the entry of its piece the CFA
 * lies; NULL: nothing, or nobody knows. */
static inline const struct x86_piece *
x86_flow_whole(const struct x86_flow *flow, const struct flow_insn *insn, int *ret_cfa)
{
	const struct x86_piece *whole;
	int lower;

	if (insn->piece == X86_FLOW_NO_INSN)
		return NULL;
	whole = x86_pieces_whole(&flow->pieces, insn->piece, &lower);
	*ret_cfa = whole->cfa + lower;
	return whole->is_told && !whole->is_bad ? whole : NULL;
}

/* The stack's bytes at an instruction, from the CFA down; false: nobody knows. */
static inline bool x86_flow_find_depth(const struct x86_flow *flow,
				       const struct flow_insn *insn, int *ret)
{
	int cfa;

	if (insn->frame.sp.from != X86_ENTRY || !x86_flow_whole(flow, insn, &cfa))
		return false;
	*ret = cfa - insn->frame.sp.at;
	return true;
}

/* Is what comes behind the instruction gone on with, as far as is known? */
static inline bool x86_flow_goes_on(const struct x86_flow *flow, uint32_t number,
				    const struct x86_effect *is)
{
	const struct flow_insn *insn = &flow->insns.items[number], *next = insn + 1;

	if (is->leaves || number + 1 >= flow->insns.n || !next->n ||
	    (flow->marks_calls && flow->code[insn->at] == X86_INT3))
		return false;
	return !insn->calls || insn->comes_back;
}

/* Its number, or X86_FLOW_NO_INSN: none begins there. */
size_t x86_flow_find_insn(const struct x86_flow *flow, size_t at);

/* A new piece, from there on. 0 or -ENOMEM. */
int x86_flow_begin(struct x86_flow *flow, uint32_t number);

/* To the ends of all that was begun. 0 or -ENOMEM. */
int x86_flow_follow(struct x86_flow *flow);

/* Both. */
int x86_flow_follow_from(struct x86_flow *flow, uint32_t number);

/* Do functions take their arguments off the stack here? */
bool x86_flow_takes_args(const struct x86_flow *flow);

/* Where they do: follows them from where they begin. 0 or -ENOMEM. */
int x86_begins_follow(struct x86_flow *flow);

/* Fills in the instructions; none: they are too many. 0 or -ENOMEM. */
int x86_flow_cut(struct x86_flow *flow);

/* Does a ret go to what was pushed right before it? So it is a jump. */
bool x86_flow_returns_to_pushed(const struct x86_flow *flow, uint32_t number);

/* pop reg; push reg: is what lies on top of the stack only looked at? Of bytes, as the
 * next one: what is told of instructions may be out of step with data before them. */
bool x86_flow_puts_back(const struct x86_flow *flow, size_t at);

/* The register of a pop %reg; lfence; jmp *%reg, which is how clang returns under
 * -mlvi-hardening; X86_NO_REG: it is none. */
int x86_flow_returns_by(const struct x86_flow *flow, size_t at);

/* Is a return address taken off the stack there, as tcc's alloca() begins? */
bool x86_flow_takes_return_address(const struct x86_flow *flow, size_t at);

/* Does a part begin there that takes its return address off the stack, and puts it back
 * to return? Calls to it do not leave their function. */
bool x86_flow_is_local(struct x86_flow *flow, uint32_t number);

static inline struct x86_effect x86_flow_effect(const struct x86_flow *flow,
						uint32_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number];
	const uint8_t ret = 0xc3;
	struct x86_effect is = x86_effect(flow->code + insn->at, insn->n);

	if (is.returns && x86_flow_returns_to_pushed(flow, number)) {
		is.returns = false;
		is.goes = true;
	}
	if (is.pushed == -X86_SLOT_BYTES &&
	    x86_flow_returns_by(flow, insn->at) != X86_NO_REG)
		is = x86_effect(&ret, 1);
	return is;
}

/* Does the last instruction that was cut jump through a table? 0 or -ENOMEM. */
int x86_tables_look(struct x86_flow *flow);

/* How long a table is that begins there; 0: none does. */
size_t x86_tables_bytes(const struct x86_flow *flow, size_t at);

/* By which the jump goes on; NULL: it is not known. */
const struct x86_table *x86_tables_find(const struct x86_flow *flow,
					const struct flow_insn *jump);

/* Finds where threads are begun. */
void x86_clones_mark(struct x86_flow *flow);

/* Calls come back, but for those behind which another function may begin. 0, or
 * -ENOMEM. */
int x86_calls_hope(struct x86_flow *flow);

/* What came of it, where all was followed, for the first time or again: true if any call
 * is hoped less of, or more, than before. */
bool x86_calls_doubt(struct x86_flow *flow, bool is_first);

/* At the end: padding behind a call that is not followed, as before the head of a loop,
 * is a part of the call's whole where what lies behind it is. */
void x86_calls_pad(struct x86_flow *flow);

#endif
