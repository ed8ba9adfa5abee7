// SPDX-License-Identifier: BSD-2-Clause
#include "sym/bottoms.h"

#include "base/error.h"
#include "obj/arm64_insn.h"
#include "obj/fde_index.h"
#include "obj/x86_insn.h"
#include "unwind/cfi_cursor.h"
#include "unwind/cfi_insn.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALL_BYTES	5  /* call rel32 */
#define PLAIN_BYTES	32 /* of a function's code that are looked at */
#define PART_SAID_BYTES 24 /* of an entry, in which its first instruction is */

struct checker {
	const struct aggregator *aggregator;
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

/* A function's own code: one that jumps on (a stub, OCaml's) hides who is below. */
static bool is_plain(const struct code_file *in, uint64_t vaddr)
{
	uint8_t code[PLAIN_BYTES];

	if (code_file_read(in, vaddr, code, sizeof(code)) != sizeof(code))
		return false;
	return in->info->machine == EM_X86_64 ? !may_jump_x86(code)
					      : !may_jump_arm64(code);
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

/* Where the call leads that ends at this address; false: it is none of that kind. */
static bool read_target(const struct code_file *in, const struct frame *frame,
			uint64_t vaddr, uint64_t *ret)
{
	uint8_t call[CALL_BYTES];
	int64_t distance;
	struct fde fde;

	if (frame->offset < sizeof(call) ||
	    paged_read(&in->file, frame->offset - sizeof(call), call, sizeof(call)) !=
		    sizeof(call) ||
	    !call_distance(in->info->machine, call, &distance))
		return false;
	*ret = vaddr + (uint64_t)distance;
	return fde_index_find(&in->file, in->info, *ret, &fde) && fde.begin == *ret &&
	       is_plain(in, *ret);
}

bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t *ret)
{
	struct fde fde;
	uint64_t vaddr;

	if (frame->returned != 1 || frame->uncallable || frame->unproven ||
	    (in->info->machine != EM_X86_64 && in->info->machine != EM_AARCH64) ||
	    !elf_vaddr_of_offset(in->info, frame->offset, &vaddr) ||
	    !fde_index_find(&in->file, in->info, vaddr, &fde) || fde.begin != vaddr)
		return false;
	return read_target(in, frame, vaddr, ret);
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

static void look_at(struct checker *c, uint32_t id, const struct frame *below)
{
	struct suspect *is = &c->of[id];

	if (!is->is_one || is->is_true || !below || !c->looks_left)
		return;
	c->looks_left--;
	look_below(c, aggregator_frame(c->aggregator, id), is, below);
}

/* Each suspect of a stack beside the frame that it is the caller of. */
static void look_at_stack(struct checker *c, const uint32_t *codes, size_t n)
{
	const struct frame *below = NULL;

	for (size_t i = STACK_HEAD; i < n; i++) {
		uint32_t id = codes[i] & ~CODE_KIND;

		switch (codes[i] & CODE_KIND) {
		case CODE_FRAME:
		case CODE_RESUMER:
			look_at(c, id, below);
			below = aggregator_frame(c->aggregator, id);
			break;
		case CODE_SEGMENT:
			i++; /* its second code is no frame */
			     /* fall through */
		case CODE_GAP:
			below = NULL;
		}
	}
}

static void look_at_stacks(struct checker *c)
{
	size_t n = intern_count(c->aggregator->stacks);

	for (uint32_t id = 0; id < n; id++) {
		size_t bytes;
		const uint32_t *codes = intern_bytes(c->aggregator->stacks, id, &bytes);

		look_at_stack(c, codes, bytes / sizeof(*codes));
	}
}

int bottoms_check(struct names *names, const struct aggregator *aggregator,
		  struct code_frames *frames, struct suspect *suspects)
{
	size_t n = intern_count(aggregator->frames), n_suspects = 0;
	struct checker checker = { .aggregator = aggregator,
				   .frames = frames,
				   .of = suspects,
				   .looks_left = LOOKS_MAX };
	int err = 0;

	for (size_t id = 0; id < n; id++)
		n_suspects += suspects[id].is_one;
	if (n_suspects)
		look_at_stacks(&checker);
	for (uint32_t id = 0; !err && id < n; id++)
		if (suspects[id].was_denied && !suspects[id].is_true &&
		    checker.looks_left)
			err = names_set_bad_return(names, id, BAD_RETURN_BOTTOM);
	return err;
}
