// SPDX-License-Identifier: BSD-2-Clause
#include "sym/bottoms.h"

#include "obj/arm64_insn.h"
#include "obj/fde_index.h"
#include "obj/x86_insn.h"

#include <elf.h>
#include <string.h>

#define PLAIN_BYTES 32 /* of a function's code that are looked at */

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

bool bottoms_is_suspect(const struct frame *frame, const struct code_file *in,
			uint64_t target)
{
	struct fde fde;
	uint64_t vaddr;

	return frame->returned == 1 && !frame->uncallable && !frame->unproven &&
	       elf_vaddr_of_offset(in->info, frame->offset, &vaddr) &&
	       code_file_fde(in, vaddr, &fde) && fde.begin == vaddr &&
	       code_file_fde(in, target, &fde) && fde.begin == target &&
	       is_plain(in, target);
}
