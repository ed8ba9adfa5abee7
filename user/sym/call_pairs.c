// SPDX-License-Identifier: BSD-2-Clause
#include "sym/call_pairs.h"

#include "obj/arm64_insn.h"
#include "obj/fde_index.h"
#include "unwind/cfi_cursor.h"
#include "unwind/cfi_insn.h"
#include "unwind/function_code.h"

#include <elf.h>
#include <string.h>

#define CALL_BYTES	5  /* call rel32 */
#define PART_SAID_BYTES 24 /* of an entry, in which its first instruction is */
#define LOOKS_MAX	200000

struct checker {
	const struct aggregator *aggregator;
	struct code_frames *frames;
	struct names *names;
	struct call_pair_end *of; /* by frame */
	size_t looks_left; /* each some reads of its file; beyond, nobody is doubted */
	int err;
};

uint64_t call_pairs_function(const struct frame *frame, const struct code_file *in)
{
	struct fde fde;
	uint64_t at;

	return frame->returned <= 1 && code_file_function(in, frame, &fde, &at) &&
			       (!fde.end || at - frame->returned < fde.end - fde.begin)
		       ? fde.begin
		       : 0;
}

/* How far from its end the call leads that these bytes end with; false: it is none of
 * that kind. */
static bool call_distance(uint16_t machine, const uint8_t call[CALL_BYTES], int64_t *ret)
{
	int32_t distance;
	uint32_t insn;

	if (machine == EM_X86_64) {
		memcpy(&distance, call + 1, sizeof(distance));
		*ret = distance;
		return call[0] == 0xe8;
	}
	memcpy(&insn, call + CALL_BYTES - sizeof(insn), sizeof(insn));
	if (!arm64_insn_calls(insn) || !arm64_insn_distance(insn, ret))
		return false;
	*ret -= sizeof(insn);
	return true;
}

bool call_pairs_target(const struct frame *frame, const struct code_file *in,
		       uint64_t *ret)
{
	uint16_t machine = in->info->machine;
	uint8_t call[CALL_BYTES];
	int64_t distance;
	uint64_t vaddr;

	if (frame->returned != 1 || frame->uncallable ||
	    (machine != EM_X86_64 && machine != EM_AARCH64) ||
	    frame->offset < sizeof(call) ||
	    paged_read(&in->file, frame->offset - sizeof(call), call, sizeof(call)) !=
		    sizeof(call) ||
	    !call_distance(machine, call, &distance) ||
	    !elf_vaddr_of_offset(in->info, frame->offset, &vaddr))
		return false;
	*ret = vaddr + (uint64_t)distance;
	return true;
}

/*
 * Is it a function's part (.cold, where exceptions are cleaned up after)? Its entry says
 * at once that there is more on the stack than a call leaves. Whose part it is nobody
 * says.
 */
static bool is_part(const struct code_file *in, uint64_t begin)
{
	uint64_t call_leaves = in->info->machine == EM_X86_64 ? 8 : 0; /* on the stack */
	uint8_t said[PART_SAID_BYTES];
	struct cfi_cursor at;
	struct fde fde;
	uint8_t op;
	size_t n;

	if (!code_file_fde(in, begin, &fde))
		return false;
	n = fde.said_bytes < sizeof(said) ? fde.said_bytes : sizeof(said);
	if (paged_read(&in->file, fde.said_offset, said, n) != n)
		return false;
	at = (struct cfi_cursor){ .at = said, .end = said + n };
	cfi_skip(&at, cfi_uleb(&at));
	op = cfi_u8(&at);
	if (op == DEF_CFA)
		cfi_uleb(&at); /* by which register */
	return (op == DEF_CFA || op == DEF_CFA_OFFSET) && cfi_uleb(&at) > call_leaves;
}

/* Is the frame below a suspect in the function that its call leads to? */
static void look_below_suspect(struct checker *c, struct call_pair_end *call,
			       const struct code_file *in, uint64_t begin)
{
	if (!begin)
		call->was_denied |= !code_frames_is_spent(c->frames);
	else if (begin == call->is.target)
		call->was_true = true;
	else
		call->was_denied |= !is_part(in, begin);
}

/* Is there a function, and its frame wherever what it calls is at work? */
static bool target_stays(const struct code_file *in, uint64_t target)
{
	uint8_t bytes[FUNCTION_CODE_MAX];
	struct function_code function = { in->info->machine, bytes, 0 };
	struct fde fde;

	if (!code_file_fde(in, target, &fde) || fde.begin != target || !fde.end ||
	    fde.end - fde.begin > sizeof(bytes))
		return false;
	function.n = fde.end - fde.begin;
	return code_file_read(in, target, bytes, function.n) == function.n &&
	       function_stays(&function);
}

/* May the function below, which its call does not lead to, be there all the same? */
static bool may_be_below(struct call_pair_end *call, const struct code_file *in,
			 uint64_t begin)
{
	if (!call->is_asked)
		call->stays = target_stays(in, call->is.target);
	call->is_asked = true;
	return !call->stays || is_part(in, begin);
}

static void look_below_call(struct checker *c, uint32_t id, uint32_t below,
			    uint64_t begin)
{
	const struct frame *frame = aggregator_frame(c->aggregator, id);
	struct call_pair_end *call = &c->of[id];
	struct code_file in;

	if (!begin || begin == call->is.target || call->good == below + 1 ||
	    !c->looks_left || names_is_misled(c->names, id, below))
		return;
	c->looks_left--;
	if (!code_frames_file(c->frames, frame, &in) || may_be_below(call, &in, begin))
		call->good = below + 1;
	else
		c->err = names_set_misled(c->names, id, below);
}

/* A frame beside the one below it. */
static void look_at_pair(struct checker *c, uint32_t id, uint32_t below, bool is_caller)
{
	const struct frame *frame = aggregator_frame(c->aggregator, id);
	struct call_pair_end *call = &c->of[id];
	bool is_same = aggregator_frame(c->aggregator, below)->module == frame->module;
	uint64_t begin = is_same ? c->of[below].is.begin : 0;
	struct code_file in;

	if (call->is.is_suspect && !call->was_true && c->looks_left) {
		c->looks_left--;
		if (code_frames_file(c->frames, frame, &in))
			look_below_suspect(c, call, &in, begin);
	}
	/* a frame pointer that nothing proves skips callers, and is known to */
	if (call->is.is_aimed && is_caller && !frame->unproven)
		look_below_call(c, id, below, begin);
}

static void look_at_stack(struct checker *c, const uint32_t *codes, size_t n)
{
	uint32_t below = 0; /* 1 + the frame; 0: it is not known */

	for (size_t i = STACK_HEAD; i < n && !c->err; i++) {
		uint32_t kind = codes[i] & CODE_KIND, id = codes[i] & ~CODE_KIND;

		if (kind == CODE_FRAME || kind == CODE_RESUMER) {
			if (below)
				look_at_pair(c, id, below - 1, kind == CODE_FRAME);
			below = id + 1;
		} else if (kind == CODE_SEGMENT || kind == CODE_GAP) {
			i += kind == CODE_SEGMENT; /* its second code is no frame */
			below = 0;
		}
	}
}

int call_pairs_check(struct names *names, const struct aggregator *aggregator,
		     struct code_frames *frames, struct call_pair_end *ends)
{
	size_t n_stacks = intern_count(aggregator->stacks),
	       n_frames = intern_count(aggregator->frames);
	struct checker c = { .aggregator = aggregator,
			     .frames = frames,
			     .names = names,
			     .of = ends,
			     .looks_left = LOOKS_MAX };

	for (uint32_t id = 0; id < n_stacks && !c.err; id++) {
		size_t bytes;
		const uint32_t *codes = intern_bytes(aggregator->stacks, id, &bytes);

		look_at_stack(&c, codes, bytes / sizeof(*codes));
	}
	for (uint32_t id = 0; id < n_frames && !c.err; id++)
		if (ends[id].was_denied && !ends[id].was_true && c.looks_left)
			c.err = names_set_bad_return(names, id, BAD_RETURN_BOTTOM);
	return c.err;
}
