// SPDX-License-Identifier: BSD-2-Clause
#include "sym/bottoms.h"

#include "base/error.h"
#include "obj/arm64_insn.h"
#include "obj/fde_index.h"
#include "obj/x86_insn.h"
#include "unwind/cfi_cursor.h"
#include "unwind/cfi_insn.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALL_BYTES	5    /* call rel32 */
#define PLAIN_BYTES	32   /* of a function's code that are looked at */
#define PART_SAID_BYTES 24   /* of an entry, in which its first instruction is */
#define WHOLE_BYTES	4096 /* of a function that is read to its end; few are longer */

struct checker {
	const struct aggregator *aggregator;
	struct names *names;
	struct code_frames *frames;
	struct suspect *of; /* by frame */
	size_t looks_left;  /* each some reads of its file; beyond, nobody is doubted */
};

#define LOOKS_MAX 200000

/* Does code jump elsewhere, perhaps? Every byte is asked: in doubt it does. */
static bool may_jump_x86(const uint8_t code[PLAIN_BYTES])
{
	const uint8_t *at = code + x86_insn_endbr64(code, PLAIN_BYTES);

	at += *at == 0xf2; /* bnd */
	if (*at == 0xeb || *at == 0x68)
		return true;
	for (size_t i = 0; i < PLAIN_BYTES; i++)
		if (code[i] == 0xe9 || (code[i] == 0xff && i + 1 < PLAIN_BYTES &&
					(code[i + 1] & 0x38) == 0x20))
			return true;
	return false;
}

static bool may_jump_arm64(const uint8_t code[PLAIN_BYTES])
{
	for (size_t i = 0; i < PLAIN_BYTES; i += sizeof(uint32_t)) {
		bool by_register;
		int64_t distance;
		uint32_t insn;

		memcpy(&insn, code + i, sizeof(insn));
		if (arm64_insn_leaves(insn, &by_register) &&
		    (by_register || arm64_insn_distance(insn, &distance)))
			return true;
	}
	return false;
}

static bool read_code(const struct code_file *in, uint64_t vaddr, uint8_t *code, size_t n)
{
	for (uint32_t i = 0; i < in->info->n_segments; i++) {
		const struct elf_segment *segment = &in->info->segments[i];
		uint64_t into = vaddr - segment->vaddr;

		if (into < segment->file_bytes)
			return paged_read(&in->file, segment->offset + into, code, n) ==
			       n;
	}
	return false;
}

/* A function's own code: one that jumps on (a stub, OCaml's) hides who is below. */
static bool is_plain(const struct code_file *in, uint64_t vaddr)
{
	uint8_t code[PLAIN_BYTES];

	return read_code(in, vaddr, code, sizeof(code)) &&
	       (in->info->machine == EM_X86_64 ? !may_jump_x86(code)
					       : !may_jump_arm64(code));
}

/* Do all of these instructions go on among themselves, or return? Who pushes what he
 * returns to jumps, too. */
static bool stays_x86(const uint8_t *code, size_t n)
{
	bool pushed = false, calls, goes_on;

	for (size_t at = 0, one; at < n; at += one) {
		struct x86_effect is;
		int64_t distance;

		one = x86_insn_bytes(code + at, n - at, &calls);
		if (!one)
			return false;
		is = x86_effect(code + at, one);
		goes_on = !calls && x86_insn_distance(code + at, one, &distance);
		if ((goes_on && at + one + (uint64_t)distance >= n) ||
		    (is.leaves && !goes_on && (!is.returns || pushed)))
			return false;
		pushed = is.sp == X86_SP_MOVED && is.pushed > 0;
	}
	return true;
}

static bool stays_arm64(const uint8_t *code, size_t n)
{
	for (size_t at = 0; at + sizeof(uint32_t) <= n; at += sizeof(uint32_t)) {
		bool by_register;
		int64_t distance;
		uint32_t insn;

		memcpy(&insn, code + at, sizeof(insn));
		if (arm64_insn_calls(insn))
			continue;
		if ((arm64_insn_distance(insn, &distance) &&
		     at + (uint64_t)distance >= n) ||
		    (arm64_insn_leaves(insn, &by_register) && by_register))
			return false;
	}
	return true;
}

/* A function that whoever is called from it has above him: it never goes on elsewhere. */
static bool stays(const struct code_file *in, const struct fde *fde)
{
	uint8_t code[WHOLE_BYTES];
	size_t n = fde->end - fde->begin;

	return fde->end > fde->begin && n <= sizeof(code) &&
	       read_code(in, fde->begin, code, n) &&
	       (in->info->machine == EM_X86_64 ? stays_x86(code, n)
					       : stays_arm64(code, n));
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

/* The function that the call leads to which ends at this address; false: it is none of
 * that kind. */
static bool read_target(const struct code_file *in, const struct frame *frame,
			uint64_t vaddr, struct fde *ret)
{
	uint8_t call[CALL_BYTES];
	int64_t distance;
	uint64_t target;

	if (frame->offset < sizeof(call) ||
	    paged_read(&in->file, frame->offset - sizeof(call), call, sizeof(call)) !=
		    sizeof(call) ||
	    !call_distance(in->info->machine, call, &distance))
		return false;
	target = vaddr + (uint64_t)distance;
	return fde_index_find(&in->file, in->info, target, ret) && ret->begin == target;
}

static bool is_first_byte(const struct code_file *in, uint64_t vaddr)
{
	struct fde fde;

	return fde_index_find(&in->file, in->info, vaddr, &fde) && fde.begin == vaddr;
}

bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t *ret)
{
	struct fde target;
	uint64_t vaddr;

	if (frame->returned != 1 || frame->uncallable ||
	    (in->info->machine != EM_X86_64 && in->info->machine != EM_AARCH64) ||
	    !elf_vaddr_of_offset(in->info, frame->offset, &vaddr) ||
	    (!frame->unproven && !is_first_byte(in, vaddr)) ||
	    !read_target(in, frame, vaddr, &target))
		return false;
	*ret = target.begin;
	return frame->unproven ? stays(in, &target) : is_plain(in, target.begin);
}

/*
 * Is it a function's part (.cold, where exceptions are cleaned up after)? Its entry says
 * at once that there is more on the stack than a call leaves.
 */
static bool is_part(const struct code_file *file, const struct fde *fde)
{
	uint64_t call_leaves =
		file->info->machine == EM_X86_64 ? 8 : 0; /* on the stack */
	uint8_t said[PART_SAID_BYTES];
	size_t n = fde->said_bytes < sizeof(said) ? fde->said_bytes : sizeof(said);
	struct cfi_cursor in = { .at = said, .end = said + n };
	uint8_t op;

	if (paged_read(&file->file, fde->said_offset, said, n) != n)
		return false;
	cfi_skip(&in, cfi_uleb(&in));
	op = cfi_u8(&in);
	if (op == DEF_CFA)
		cfi_uleb(&in); /* by which register */
	return (op == DEF_CFA || op == DEF_CFA_OFFSET) && cfi_uleb(&in) > call_leaves;
}

/* Is the frame below in the function that the call leads to? Whose part it is in nobody
 * says. */
static void look_below(const struct checker *c, const struct frame *of,
		       struct suspect *call, const struct frame *below)
{
	struct code_file in;
	struct fde fde;
	uint64_t vaddr;

	if (!code_frames_file(c->frames, of, &in))
		return;
	if (below->module != of->module ||
	    !elf_vaddr_of_offset(in.info, below->offset - (below->returned == 1),
				 &vaddr) ||
	    !fde_index_find(&in.file, in.info, vaddr, &fde))
		call->was_denied |= !code_frames_is_spent(c->frames);
	else if (fde.begin == call->target)
		call->is_true = true;
	else
		call->was_denied |= !is_part(&in, &fde);
}

/* Whom this one called is in its own file, so it did not call who is elsewhere. */
static int look_for_skip(const struct checker *c, uint32_t id, uint32_t below)
{
	const struct frame *frame = aggregator_frame(c->aggregator, id);
	int err = 0;

	if (frame->module != aggregator_frame(c->aggregator, below)->module)
		err = names_set_skip(c->names, (struct skip){ below, id });
	return err == INTERN_FULL ? 0 : err; /* the others stay as the walk has them */
}

#define NONE_BELOW UINT32_MAX

static int look_at(struct checker *c, uint32_t id, uint32_t below)
{
	const struct frame *frame = aggregator_frame(c->aggregator, id);
	struct suspect *is = &c->of[id];

	if (!is->is_one || below == NONE_BELOW)
		return 0;
	if (frame->unproven)
		return look_for_skip(c, id, below);
	if (is->is_true || !c->looks_left)
		return 0;
	c->looks_left--;
	look_below(c, frame, is, aggregator_frame(c->aggregator, below));
	return 0;
}

/* Each suspect of a stack beside the frame that it is the caller of. */
static int look_at_stack(struct checker *c, const uint32_t *codes, size_t n)
{
	uint32_t below = NONE_BELOW;
	int err = 0;

	for (size_t i = STACK_HEAD; !err && i < n; i++) {
		uint32_t id = codes[i] & ~CODE_KIND;

		switch (codes[i] & CODE_KIND) {
		case CODE_FRAME:
		case CODE_RESUMER:
			err = look_at(c, id, below);
			below = id;
			break;
		case CODE_SEGMENT:
			i++; /* its second code is no frame */
			     /* fall through */
		case CODE_GAP:
			below = NONE_BELOW;
		}
	}
	return err;
}

static int look_at_stacks(struct checker *c)
{
	size_t n = intern_count(c->aggregator->stacks);
	int err = 0;

	for (uint32_t id = 0; !err && id < n; id++) {
		size_t bytes;
		const uint32_t *codes = intern_bytes(c->aggregator->stacks, id, &bytes);

		err = look_at_stack(c, codes, bytes / sizeof(*codes));
	}
	return err;
}

int bottoms_check(struct names *names, const struct aggregator *aggregator,
		  struct code_frames *frames, struct suspect *suspects)
{
	size_t n = intern_count(aggregator->frames), n_suspects = 0;
	struct checker checker = { .aggregator = aggregator,
				   .names = names,
				   .frames = frames,
				   .of = suspects,
				   .looks_left = LOOKS_MAX };
	int err = 0;

	for (size_t id = 0; id < n; id++)
		n_suspects += suspects[id].is_one;
	if (n_suspects)
		err = look_at_stacks(&checker);
	for (uint32_t id = 0; !err && id < n; id++)
		if (suspects[id].was_denied && !suspects[id].is_true &&
		    checker.looks_left)
			err = names_set_bad_return(names, id, BAD_RETURN_BOTTOM);
	return err;
}
