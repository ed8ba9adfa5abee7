// SPDX-License-Identifier: BSD-2-Clause
#include "sym/return_check.h"

#include "base/error.h"
#include "obj/fde_index.h"
#include "sym/bottoms.h"
#include "sym/code_frames.h"
#include "sym/switches.h"

#include <elf.h>
#include <string.h>

/* ff /2 with its operand: the length that ModRM and SIB bytes ask for. */
static int indirect_call_bytes(uint8_t modrm, uint8_t sib)
{
	int mod = modrm >> 6, rm = modrm & 7;
	int n = 2 + (mod != 3 && rm == 4);

	if (mod == 1)
		return n + 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		return n + 4;
	return n;
}

static bool x86_call(const uint8_t before[RETURN_BYTES_BEFORE])
{
	if (before[RETURN_BYTES_BEFORE - 5] == 0xe8) /* call rel32 */
		return true;
	for (int n = 2; n <= 7; n++) {
		const uint8_t *at = before + RETURN_BYTES_BEFORE - n;

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 &&
		    indirect_call_bytes(at[1], n > 2 ? at[2] : 0) == n)
			return true;
	}
	return false;
}

static bool arm64_call(const uint8_t before[RETURN_BYTES_BEFORE])
{
	uint32_t insn;

	memcpy(&insn, before + RETURN_BYTES_BEFORE - sizeof(insn), sizeof(insn));
	return (insn & 0xfc000000) == 0x94000000 || /* bl */
	       (insn & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (insn & 0xfefff800) == 0xd63f0800;   /* blraa, blrab and their z forms */
}

/* rt_sigreturn, to which the kernel lets a signal handler return */
static bool returns_from_signal(uint16_t machine, const uint8_t after[RETURN_BYTES_AFTER])
{
	static const uint8_t x86[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t x86_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	static const uint8_t arm64_short[] = { 0x68, 0x11, 0x80, 0x52, 0x01, 0, 0, 0xd4 };

	if (machine == EM_X86_64)
		return !memcmp(after, x86, sizeof(x86)) ||
		       !memcmp(after, x86_short, sizeof(x86_short));
	return !memcmp(after, arm64, sizeof(arm64)) ||
	       !memcmp(after, arm64_short, sizeof(arm64_short));
}

bool return_check_code(uint16_t machine, const uint8_t before[RETURN_BYTES_BEFORE],
		       const uint8_t after[RETURN_BYTES_AFTER])
{
	if (returns_from_signal(machine, after))
		return true;
	return machine == EM_X86_64    ? x86_call(before)
	       : machine == EM_AARCH64 ? arm64_call(before)
				       : true;
}

/* Code that the loader maps as it is; of what else is in a file (an engine's own cache
 * of compiled code) nobody knows where it is gone on in. */
static bool is_linked(const struct elf_info *info)
{
	return info->type == ET_EXEC || info->type == ET_DYN;
}

/* A nop of 5 bytes or more, over which a program may have written a call since (XRay's,
 * -mnop-mcount's): in its file there is none. */
static bool may_be_patched(uint16_t machine, const uint8_t before[RETURN_BYTES_BEFORE])
{
	static const struct {
		uint8_t bytes, modrm;
	} nops[] = { { 5, 0x44 }, { 7, 0x80 }, { 8, 0x84 } };

	for (size_t i = 0; machine == EM_X86_64 && i < sizeof(nops) / sizeof(*nops);
	     i++) {
		const uint8_t *nop = before + RETURN_BYTES_BEFORE - nops[i].bytes;

		if (nop[0] == 0x0f && nop[1] == 0x1f && nop[2] == nops[i].modrm)
			return true;
	}
	return false;
}

/* Nops before a function's first byte are padding. */
static bool is_within(const struct frame *frame, const struct code_file *in)
{
	struct fde fde;
	uint64_t vaddr;

	return elf_vaddr_of_offset(in->info, frame->offset, &vaddr) &&
	       fde_index_find(&in->file, in->info, vaddr, &fde) && fde.begin != vaddr;
}

/* What may not be read, since its user's files took too much, is believed only if it was
 * proven. */
static bool is_bad_return(struct code_frames *frames, const struct frame *frame,
			  uint64_t *unread)
{
	uint8_t bytes[RETURN_BYTES_BEFORE + RETURN_BYTES_AFTER] = { 0 };
	struct code_file in;

	if (!code_frames_file(frames, frame, &in) || !is_linked(in.info) ||
	    frame->offset < RETURN_BYTES_BEFORE)
		return false;
	if (paged_read(&in.file, frame->offset - RETURN_BYTES_BEFORE, bytes,
		       sizeof(bytes)) < RETURN_BYTES_BEFORE) {
		*unread += code_frames_is_spent(frames);
		return frame->unproven && code_frames_is_spent(frames);
	}
	if (!frame->unproven && may_be_patched(in.info->machine, bytes) &&
	    is_within(frame, &in))
		return false;
	return !return_check_code(in.info->machine, bytes, bytes + RETURN_BYTES_BEFORE);
}

static bool is_to_be_checked(const struct frame *frame)
{
	return frame->returned == 1 && !frame->uncallable;
}

/* Of no code that we know of. */
static bool is_nowhere(const struct frame *frame, const struct module_table *modules)
{
	return frame->unproven &&
	       module_get(modules, frame->module)->kind == MODULE_UNMAPPED;
}

static int check_returns(struct names *names, struct code_frames *frames,
			 const struct module_table *modules, uint64_t *ret_unread)
{
	uint32_t id;
	int err = 0;

	for (size_t i = 0; !err && code_frames_next(frames, &i, &id);) {
		const struct frame *frame = code_frames_get(frames, id);

		if (!is_to_be_checked(frame))
			continue;
		if (is_nowhere(frame, modules) ||
		    is_bad_return(frames, frame, ret_unread))
			err = names_set_bad_return(names, id,
						   frame->unproven ? BAD_RETURN_MISTAKEN
								   : BAD_RETURN_BOTTOM);
	}
	return err;
}

int return_check(struct names *names, const struct aggregator *aggregator,
		 const struct module_table *modules, const struct files *files,
		 uint64_t *ret_unread)
{
	AUTO(code_frames) frames = NULL;
	int err = code_frames_new(&frames, aggregator, files);

	*ret_unread = 0;
	if (!err)
		err = check_returns(names, frames, modules, ret_unread);
	if (!err)
		err = switches_check(names, frames);
	return err ? err : bottoms_check(names, aggregator, frames);
}
