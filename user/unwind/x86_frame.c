// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_frame.h"

#define FAR_BYTES (1 << 17) /* no frame is as large; in words it fits a rule */

const struct x86_frame x86_frame_at_entry = {
	.sp = { .from = X86_ENTRY },
	.kept_in = X86_NO_REG,
	.size_in = X86_NO_REG,
};

static bool is_known(struct x86_place place)
{
	return place.from == X86_ENTRY || place.from == X86_ALIGNED;
}

static bool is_same(struct x86_place a, struct x86_place b)
{
	return a.from == b.from && (a.at == b.at || !is_known(a));
}

static struct x86_place moved(struct x86_place place, int bytes)
{
	if (!is_known(place))
		return place;
	if (bytes > FAR_BYTES || bytes < -FAR_BYTES)
		return (struct x86_place){ 0 };
	place.at += bytes;
	if (place.at > FAR_BYTES || place.at < -FAR_BYTES)
		return (struct x86_place){ 0 };
	return place;
}

static struct x86_place held_by(const struct x86_frame *frame, int reg)
{
	if (reg == X86_SP)
		return frame->sp;
	if (reg == X86_FP)
		return frame->fp;
	if (reg != X86_NO_REG && reg == frame->kept_in)
		return (struct x86_place){ frame->kept, X86_ENTRY };
	return (struct x86_place){ 0 };
}

struct x86_place x86_frame_place(const struct x86_frame *frame, int base, int distance)
{
	return moved(held_by(frame, base), distance);
}

static const int registers[N_X86_CALLERS] = { X86_FP, X86_BX };

/* From where the place of what was saved counts; X86_NOWHERE: it was not. */
static enum x86_from saved_from(const struct x86_caller *caller)
{
	return caller->is == X86_SAVED		 ? X86_ENTRY
	       : caller->is == X86_SAVED_ALIGNED ? X86_ALIGNED
						 : X86_NOWHERE;
}

static bool is_at(const struct x86_caller *caller, struct x86_place place)
{
	return is_known(place) && place.from == saved_from(caller) &&
	       place.at == caller->at;
}

/* A register was put there, which was its caller's if it still held that. */
static void save(struct x86_frame *frame, struct x86_place place, int reg)
{
	for (size_t i = 0; i < N_X86_CALLERS; i++) {
		struct x86_caller *caller = &frame->callers[i];

		if (is_at(caller, place))
			caller->is = X86_LOST;
		if (registers[i] == reg && caller->is == X86_KEPT && is_known(place)) {
			caller->is =
				place.from == X86_ENTRY ? X86_SAVED : X86_SAVED_ALIGNED;
			caller->at = place.at;
		}
	}
}

/* Is what is put there an address that may be taken back from there? In a frame that was
 * not rounded down, the pointers are: they are put there around what changes them. */
static bool keeps_address(const struct x86_frame *frame, struct x86_place place, int reg)
{
	if (held_by(frame, reg).from != X86_ENTRY)
		return false;
	if (place.from == X86_ALIGNED)
		return reg != X86_SP;
	return place.from == X86_ENTRY && frame->slot.from != X86_ALIGNED &&
	       (reg == X86_SP || reg == X86_FP);
}

/* Does a register hold an address of this stack, whichever? */
static bool is_own(const struct x86_frame *frame, int reg)
{
	if (reg == X86_SP)
		return frame->sp.from != X86_FOREIGN;
	return is_known(held_by(frame, reg)) || frame->own >> reg & 1;
}

static void store(struct x86_frame *frame, struct x86_place place, int reg)
{
	if (is_known(place) && is_same(place, frame->slot))
		frame->slot.from = X86_NOWHERE;
	if (place.from == X86_ENTRY && reg >= 0 && is_own(frame, reg))
		frame->own_slot = place;
	else if (is_same(place, frame->own_slot))
		frame->own_slot.from = X86_NOWHERE;
	save(frame, place, reg);
	if (keeps_address(frame, place, reg)) {
		frame->slot = place;
		frame->slot_holds = held_by(frame, reg).at;
		frame->slot_is_size = false;
	} else if (place.from == X86_ALIGNED && reg == frame->size_in) {
		frame->slot = place;
		frame->slot_holds = frame->size_to;
		frame->slot_is_size = true;
	}
}

/* Registers were written; the one of `loaded` from memory at `place`. */
static void write(struct x86_frame *frame, unsigned int writes, int loaded,
		  struct x86_place place)
{
	for (size_t i = 0; i < N_X86_CALLERS; i++) {
		struct x86_caller *caller = &frame->callers[i];

		if (!(writes >> registers[i] & 1))
			continue;
		if (registers[i] == loaded && is_at(caller, place))
			caller->is = X86_KEPT;
		else if (caller->is == X86_KEPT)
			caller->is = X86_LOST;
	}
}

/* What lies below the stack pointer is not the frame's any more. */
static void release(struct x86_frame *frame, struct x86_place was)
{
	for (size_t i = 0; i < N_X86_CALLERS; i++) {
		struct x86_caller *caller = &frame->callers[i];
		enum x86_from from = saved_from(caller);

		if (from == X86_NOWHERE || was.from != from)
			continue;
		if (frame->sp.from == from)
			caller->is = was.at <= caller->at && frame->sp.at > caller->at
					     ? X86_LOST
					     : caller->is;
		else if (from == X86_ALIGNED && frame->sp.from == X86_ENTRY)
			caller->is = X86_LOST; /* the whole frame is gone */
	}
	if (frame->slot.from == X86_ENTRY && frame->sp.from == X86_ENTRY &&
	    frame->sp.at > frame->slot.at)
		frame->slot.from = X86_NOWHERE;
}

/* Another address is the rounded one from here on. */
static void forget_aligned(struct x86_frame *frame)
{
	frame->size_in = X86_NO_REG;
	if (frame->fp.from == X86_ALIGNED)
		frame->fp.from = X86_NOWHERE;
	if (frame->slot.from == X86_ALIGNED)
		frame->slot.from = X86_NOWHERE;
	for (size_t i = 0; i < N_X86_CALLERS; i++)
		if (frame->callers[i].is == X86_SAVED_ALIGNED)
			frame->callers[i].is = X86_LOST;
}

/* Does it take back what was put there? */
static bool loads_from(struct x86_place slot, const struct x86_effect *is,
		       struct x86_place source)
{
	return is->way == X86_LOADS && is_known(source) && is_same(source, slot);
}

static void set_own(struct x86_frame *frame, const struct x86_effect *is,
		    struct x86_place source)
{
	bool own = false;

	if (is->reg >= 0 && loads_from(frame->own_slot, is, source)) {
		frame->own |= 1u << is->reg;
		return;
	}
	for (int reg = 0; is->sums != X86_NO_REG && is->sum >> reg; reg++)
		own |= is->sum >> reg & 1 && is_own(frame, reg);
	frame->own &= ~is->writes;
	if (own && is->sums != X86_SP)
		frame->own |= 1u << is->sums;
}

/* Is the stack pointer lowered by what was made of itself? So qhasm rounds it down. Who
 * lowers it by anything else has a frame pointer. */
static bool takes_size(const struct x86_frame *frame, const struct x86_effect *is)
{
	return is->sp == X86_SP_LOWERED && frame->sp.from == X86_ENTRY &&
	       is_own(frame, is->from) && !is_known(held_by(frame, is->from));
}

bool x86_frame_gives_size_back(const struct x86_frame *frame, const struct x86_effect *is)
{
	return is->sp == X86_SP_RAISED && frame->sp.from == X86_ALIGNED &&
	       is->from == frame->size_in;
}

static void set_sp(struct x86_frame *frame, const struct x86_effect *is,
		   struct x86_place value)
{
	bool is_from_own = is->from != X86_NO_REG && is_own(frame, is->from);
	struct x86_place was = frame->sp;

	if (is->aligns && is_known(was)) {
		frame->sp = (struct x86_place){ 0, X86_ALIGNED };
		forget_aligned(frame);
	} else if (takes_size(frame, is)) {
		forget_aligned(frame);
		frame->sp = (struct x86_place){ 0, X86_ALIGNED };
		frame->size_in = is->from;
		frame->size_to = was.at;
	} else if (x86_frame_gives_size_back(frame, is)) {
		frame->sp =
			moved((struct x86_place){ frame->size_to, X86_ENTRY }, was.at);
	} else if (is->sp == X86_SP_MOVED) {
		frame->sp = moved(was, -is->pushed);
	} else if (is_known(value)) {
		frame->sp = value;
	} else {
		frame->sp.from = is->sp == X86_SP_TAKEN && !is_from_own ? X86_FOREIGN
									: X86_NOWHERE;
	}
	release(frame, was);
}

/* leave: sp = fp, and fp = what lay there */
static void drop(struct x86_frame *frame)
{
	struct x86_place record = frame->fp, was = frame->sp;

	frame->sp = moved(record, 8);
	frame->fp.from = X86_NOWHERE;
	write(frame, 1u << X86_FP, X86_FP, record);
	release(frame, was);
}

/* What an instruction copies: from `source`, which for LOADS is memory. */
static struct x86_place value_of(const struct x86_frame *frame,
				 const struct x86_effect *is, struct x86_place source)
{
	if (is->way == X86_COPIES)
		return source;
	if (!frame->slot_is_size && loads_from(frame->slot, is, source))
		return (struct x86_place){ frame->slot_holds, X86_ENTRY };
	return (struct x86_place){ 0 };
}

static void set_size(struct x86_frame *frame, const struct x86_effect *is,
		     struct x86_place source)
{
	if (frame->size_in != X86_NO_REG && is->writes >> frame->size_in & 1)
		frame->size_in = X86_NO_REG;
	if (frame->slot_is_size && loads_from(frame->slot, is, source) &&
	    is->reg != X86_SP) {
		frame->size_in = is->reg;
		frame->size_to = frame->slot_holds;
	}
}

bool x86_frame_copies_return(const struct x86_frame *frame, const struct x86_effect *is)
{
	struct x86_place from;

	if (is->way != X86_PUSHES || frame->sp.from != X86_ALIGNED || frame->sp.at)
		return false;
	from = x86_frame_place(frame, is->base, is->distance);
	return from.from == X86_ENTRY && !from.at;
}

void x86_frame_apply(struct x86_frame *frame, const struct x86_effect *is)
{
	bool loads = is->way == X86_LOADS, sets = loads || is->way == X86_COPIES;
	struct x86_place source = { 0 }, value, nowhere = { 0 };

	if (is->drops) {
		drop(frame);
		return;
	}
	if (is->way != X86_NO_COPY)
		source = x86_frame_place(frame, is->base, is->distance);
	value = value_of(frame, is, source);
	set_own(frame, is, source);
	if (is->way == X86_STORES)
		store(frame, source, is->reg);
	if (frame->kept_in != X86_NO_REG && is->writes >> frame->kept_in & 1)
		frame->kept_in = X86_NO_REG;
	set_size(frame, is, source);
	write(frame, is->writes, loads ? is->reg : X86_NO_REG, source);
	if (is->writes >> X86_FP & 1) {
		frame->fp = sets && is->reg == X86_FP ? value : nowhere;
	} else if (sets && is->reg != X86_SP && value.from == X86_ENTRY) {
		frame->kept_in = is->reg;
		frame->kept = value.at;
	}
	set_sp(frame, is, sets && is->reg == X86_SP ? value : nowhere);
	if (is->pushes != X86_NO_REG)
		store(frame, frame->sp, is->pushes);
}

void x86_frame_shift(struct x86_frame *frame, int bytes)
{
	if (frame->sp.from == X86_ENTRY)
		frame->sp = moved(frame->sp, bytes);
	if (frame->fp.from == X86_ENTRY)
		frame->fp = moved(frame->fp, bytes);
	if (frame->slot.from == X86_ENTRY)
		frame->slot = moved(frame->slot, bytes);
	frame->own_slot = moved(frame->own_slot, bytes);
	frame->kept += bytes;
	frame->slot_holds += bytes;
	frame->size_to += bytes;
	for (size_t i = 0; i < N_X86_CALLERS; i++)
		if (frame->callers[i].is == X86_SAVED)
			frame->callers[i].at += bytes;
}

enum x86_meeting x86_frame_meet(struct x86_frame *frame, const struct x86_frame *other)
{
	enum x86_meeting meeting = X86_SAME;

	if (!is_same(frame->sp, other->sp)) {
		if (frame->sp.from == X86_ENTRY && other->sp.from == X86_ENTRY)
			return X86_CONTRADICTS;
		meeting = frame->sp.from ? X86_LESS : X86_SAME;
		frame->sp.from = X86_NOWHERE;
	}
	if (frame->fp.from && !is_same(frame->fp, other->fp)) {
		frame->fp.from = X86_NOWHERE;
		meeting = X86_LESS;
	}
	if (frame->kept_in != X86_NO_REG &&
	    (frame->kept_in != other->kept_in || frame->kept != other->kept)) {
		frame->kept_in = X86_NO_REG;
		meeting = X86_LESS;
	}
	if (frame->size_in != X86_NO_REG &&
	    (frame->size_in != other->size_in || frame->size_to != other->size_to)) {
		frame->size_in = X86_NO_REG;
		meeting = X86_LESS;
	}
	if (frame->own & ~other->own) {
		frame->own &= other->own;
		meeting = X86_LESS;
	}
	if (frame->own_slot.from && !is_same(frame->own_slot, other->own_slot)) {
		frame->own_slot.from = X86_NOWHERE;
		meeting = X86_LESS;
	}
	if (frame->slot.from && (!is_same(frame->slot, other->slot) ||
				 frame->slot_holds != other->slot_holds ||
				 frame->slot_is_size != other->slot_is_size)) {
		frame->slot.from = X86_NOWHERE;
		meeting = X86_LESS;
	}
	for (size_t i = 0; i < N_X86_CALLERS; i++) {
		const struct x86_caller *theirs = &other->callers[i];
		struct x86_caller *caller = &frame->callers[i];

		if (caller->is == X86_LOST ||
		    (caller->is == theirs->is &&
		     (caller->is == X86_KEPT || caller->at == theirs->at)))
			continue;
		caller->is = X86_LOST;
		meeting = X86_LESS;
	}
	return meeting;
}

unsigned char x86_dwarf_number(int reg)
{
	static const unsigned char numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return reg < 8 ? numbers[reg] : (unsigned char)reg;
}

/* By what the aligned frame keeps: where the stack was, or how far above that is. */
static bool find_cfa_by_slot(const struct x86_frame *frame, int cfa,
			     struct unwind_rule *ret)
{
	bool by_sp = frame->sp.from == X86_ALIGNED;
	int deref = frame->slot.at - (by_sp ? frame->sp.at : frame->fp.at);

	ret->cfa = frame->slot_is_size ? UNWIND_CFA_SIZED
		   : by_sp	       ? UNWIND_CFA_DEREF_SP
				       : UNWIND_CFA_DEREF_FP;
	ret->cfa_offset =
		cfa - frame->slot_holds - (frame->slot_is_size ? frame->sp.at : 0);
	ret->deref_offset = (short)deref;
	return deref == ret->deref_offset && (by_sp || !frame->slot_is_size);
}

/* The CFA, by what is best known. */
static bool find_cfa(const struct x86_frame *frame, int cfa, struct unwind_rule *ret)
{
	ret->reg = UNWIND_BY_CODE;
	if (frame->sp.from == X86_ENTRY) {
		ret->cfa = UNWIND_CFA_SP;
		ret->cfa_offset = cfa - frame->sp.at;
	} else if (frame->fp.from == X86_ENTRY) {
		ret->cfa = UNWIND_CFA_FP;
		ret->cfa_offset = cfa - frame->fp.at;
	} else if (frame->slot.from == X86_ALIGNED &&
		   (frame->sp.from == X86_ALIGNED || frame->fp.from == X86_ALIGNED)) {
		return find_cfa_by_slot(frame, cfa, ret);
	} else if (frame->kept_in != X86_NO_REG) {
		ret->cfa = UNWIND_CFA_REG;
		ret->reg = x86_dwarf_number(frame->kept_in);
		ret->cfa_offset = cfa - frame->kept;
	} else {
		return false;
	}
	return true;
}

/* Where the caller's frame pointer is. In an aligned frame its pointers lead to it. */
static void tell_fp(const struct x86_frame *frame, int cfa, bool kept,
		    struct unwind_rule *ret)
{
	const struct x86_caller *fp = &frame->callers[X86_FP_CALLERS];

	ret->fp = UNWIND_FP_LOST;
	if (kept && fp->is == X86_KEPT) {
		ret->fp = UNWIND_FP_SAME;
	} else if (kept && fp->is == X86_SAVED) {
		ret->fp = UNWIND_FP_CFA;
		ret->fp_words = (short)((fp->at - cfa) / X86_SLOT_BYTES);
	} else if (kept && fp->is == X86_SAVED_ALIGNED && frame->fp.from == X86_ALIGNED) {
		ret->fp = UNWIND_FP_DEREF;
		ret->fp_words = (short)((fp->at - frame->fp.at) / X86_SLOT_BYTES);
	} else if (kept && fp->is == X86_SAVED_ALIGNED && frame->sp.from == X86_ALIGNED) {
		ret->fp = UNWIND_FP_SP;
		ret->fp_words = (short)((fp->at - frame->sp.at) / X86_SLOT_BYTES);
	}
}

bool x86_frame_rule(const struct x86_frame *frame, int cfa, bool kept,
		    struct unwind_rule *ret)
{
	const struct x86_caller *bx;

	*ret = (struct unwind_rule){ .ra_words = -1 };
	if (frame->sp.from == X86_FOREIGN) {
		*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_TORN };
		return true;
	}
	if (!find_cfa(frame, cfa, ret))
		return false;
	tell_fp(frame, cfa, kept, ret);
	bx = &frame->callers[X86_BX_CALLERS];
	ret->bx_words = kept && bx->is == X86_KEPT ? 0
			: kept && bx->is == X86_SAVED
				? (short)((bx->at - cfa) / X86_SLOT_BYTES)
				: UNWIND_BX_LOST;
	return true;
}
