// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_beam.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a scheduler's thread says if that code should ever return (sched_thread_func() in
 * erts/emulator/beam/erl_process.c): the call before the place where it gets this text
 * ready is the one that enters it. Newer files export neither function.
 */
static const char said[] = "\0Scheduler thread number %beu terminated\n";

#define TEXT_PIECE 65536u
#define ALIGNED	   16 /* where compilers let functions begin */
#define CALL_BACK  48 /* from the place where the text is mentioned, in bytes of code */
#define BEFORE	   (CALL_BACK + 8) /* and what is read of the call */
#define ADDR_BYTES 4		   /* bytes of an address in an instruction */

/* One segment's bytes after the other, in pieces that overlap. */
struct pieces {
	struct elf_file *file;
	const Elf64_Phdr *segment;
	uint64_t at; /* in the segment, of this piece */
	size_t n;
	uint8_t bytes[TEXT_PIECE];
};

/* Is the i-th segment loaded, not to be written, and code if asked for? */
static bool begin_segment(struct pieces *pieces, struct elf_file *file, size_t i,
			  bool is_code)
{
	const Elf64_Phdr *segment = &file->phdrs[i];

	pieces->file = file;
	pieces->segment = segment;
	pieces->n = 0;
	return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) &&
	       (!is_code || segment->p_flags & PF_X);
}

/* The next one, which begins `overlap` bytes before the end of the last; false: none. */
static bool next_piece(struct pieces *pieces, size_t overlap)
{
	uint64_t at = pieces->n ? pieces->at + pieces->n - overlap : 0, left;

	if (at + overlap >= pieces->segment->p_filesz)
		return false;
	left = pieces->segment->p_filesz - at;
	pieces->at = at;
	pieces->n = left < TEXT_PIECE ? (size_t)left : TEXT_PIECE;
	if (!elf_file_read(pieces->file, pieces->segment->p_offset + at, pieces->bytes,
			   pieces->n))
		return true;
	error_clear();
	return false;
}

/* Where the text lies, as linked; 0: nowhere here. */
static uint64_t find_text(struct pieces *pieces)
{
	while (next_piece(pieces, sizeof(said))) {
		const uint8_t *found =
			memmem(pieces->bytes, pieces->n, said, sizeof(said));

		if (found)
			return pieces->segment->p_vaddr + pieces->at +
			       (uint64_t)(found - pieces->bytes) + 1;
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

/* Does a call to a function of this segment, or by register, end there? */
static bool ends_call(const struct pieces *pieces, size_t end)
{
	const uint8_t *code = pieces->bytes + end;
	uint64_t callee;

	if (code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0)
		return true;
	callee = pieces->at + end + (uint64_t)(int32_t)word_at(code - 4);
	return code[-5] == 0xe8 && callee < pieces->segment->p_filesz &&
	       !((pieces->segment->p_vaddr + callee) % ALIGNED);
}

/* Where the call before the place that mentions the text returns to, as linked; 0: no
 * place does, or no call is before it. */
static uint64_t find_return(struct pieces *pieces, uint64_t text)
{
	while (next_piece(pieces, BEFORE + ADDR_BYTES)) {
		uint64_t vaddr = pieces->segment->p_vaddr + pieces->at;

		for (size_t i = BEFORE; i + ADDR_BYTES <= pieces->n; i++) {
			if (!mentions(pieces->bytes + i, vaddr + i, text))
				continue;
			for (size_t end = i - 2; end > i - CALL_BACK; end--)
				if (ends_call(pieces, end))
					return vaddr + end;
		}
	}
	return 0;
}

bool unwind_beam_find(struct elf_file *file, struct unwind_rule *ret)
{
	AUTO_FREE struct pieces *pieces = malloc(sizeof(*pieces));
	uint64_t text = 0, returns = 0;

	if (!pieces) {
		elf_file_stop_recording(file);
		return false;
	}
	for (size_t i = 0; !text && i < file->n_phdrs; i++)
		if (begin_segment(pieces, file, i, false))
			text = find_text(pieces);
	for (size_t i = 0; text && !returns && i < file->n_phdrs; i++)
		if (begin_segment(pieces, file, i, true))
			returns = find_return(pieces, text);
	ret->cfa_offset = (int)returns;
	return returns && returns <= INT_MAX;
}
