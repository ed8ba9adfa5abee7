// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_beam.h"

#include "base/error.h"
#include "obj/elf_pieces.h"

#include <limits.h>
#include <string.h>

/*
 * What a scheduler's thread says if that code should ever return (sched_thread_func() in
 * erts/emulator/beam/erl_process.c): the call before the place where it gets this text
 * ready is the one that enters it. Newer files export neither function.
 */
static const char said[] = "\0Scheduler thread number %beu terminated\n";

#define ALIGNED	   16 /* where compilers let functions begin */
#define CALL_BACK  48 /* from the place where the text is mentioned, in bytes of code */
#define BEFORE	   (CALL_BACK + 8) /* and what is read of the call */
#define ADDR_BYTES 4		   /* bytes of an address in an instruction */

/* Goes to the i-th segment, if it is loaded and not to be written. */
static bool begin_segment(struct elf_pieces *pieces, size_t i)
{
	const Elf64_Phdr *segment = &pieces->file->phdrs[i];

	elf_pieces_begin(pieces, segment->p_offset, segment->p_filesz);
	return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W);
}

/* The next piece, as of elf_pieces_next(). */
static bool next_piece(struct elf_pieces *pieces, size_t overlap)
{
	int err = elf_pieces_next(pieces, overlap);

	if (err < 0)
		error_clear();
	return err > 0;
}

/* Where the text lies in the segment, which is never its first byte; 0: nowhere. */
static uint64_t find_text(struct elf_pieces *pieces)
{
	while (next_piece(pieces, sizeof(said))) {
		const uint8_t *found =
			memmem(pieces->bytes, pieces->n, said, sizeof(said));

		if (found)
			return pieces->at + (uint64_t)(found - pieces->bytes) + 1;
	}
	return 0;
}

static uint32_t word_at(const uint8_t *code)
{
	uint32_t ret;

	memcpy(&ret, code, sizeof(ret));
	return ret;
}

/* Is the text's address what is loaded by the instruction whose last four bytes these
 * are: by lea from its own, or mov? */
static bool mentions(const uint8_t *code, uint64_t vaddr, uint64_t text)
{
	if (code[-2] == 0x8d && (code[-1] & 0xc7) == 0x05)
		return vaddr + 4 + (uint64_t)(int32_t)word_at(code) == text;
	return (code[-1] & 0xf8) == 0xb8 && word_at(code) == text;
}

/* Does a call to a function of the segment at vaddr, or by register, end there? */
static bool ends_call(const struct elf_pieces *pieces, uint64_t vaddr, size_t end)
{
	const uint8_t *code = pieces->bytes + end;
	uint64_t callee;

	if (code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0)
		return true;
	callee = pieces->at + end + (uint64_t)(int32_t)word_at(code - 4);
	return code[-5] == 0xe8 && callee < pieces->size && !((vaddr + callee) % ALIGNED);
}

/* Where, in the segment at vaddr, the call before the place that mentions the text
 * returns to, as linked; 0: no place does, or no call is before it. */
static uint64_t find_return(struct elf_pieces *pieces, uint64_t vaddr, uint64_t text)
{
	while (next_piece(pieces, BEFORE + ADDR_BYTES)) {
		for (size_t i = BEFORE; i + ADDR_BYTES <= pieces->n; i++) {
			if (!mentions(pieces->bytes + i, vaddr + pieces->at + i, text))
				continue;
			for (size_t end = i - 2; end > i - CALL_BACK; end--)
				if (ends_call(pieces, vaddr, end))
					return vaddr + pieces->at + end;
		}
	}
	return 0;
}

bool unwind_beam_find(struct elf_file *file, struct unwind_rule *ret)
{
	AUTO(elf_pieces) pieces = NULL;
	const Elf64_Phdr *segments = file->phdrs;
	uint64_t text = 0, returns = 0;

	if (elf_pieces_new(&pieces, file)) {
		error_clear();
		elf_file_stop_recording(file);
		return false;
	}
	for (size_t i = 0; !text && i < file->n_phdrs; i++) {
		text = begin_segment(pieces, i) ? find_text(pieces) : 0;
		text += text ? segments[i].p_vaddr : 0;
	}
	for (size_t i = 0; text && !returns && i < file->n_phdrs; i++)
		if (begin_segment(pieces, i) && segments[i].p_flags & PF_X)
			returns = find_return(pieces, segments[i].p_vaddr, text);
	ret->cfa_offset = (int)returns;
	return returns && returns <= INT_MAX;
}
