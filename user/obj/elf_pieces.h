/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a file that is larger than what should be in memory, piece by piece, for
 * who looks for something in it.
 */
#ifndef WEFT_OBJ_ELF_PIECES_H
#define WEFT_OBJ_ELF_PIECES_H

#include "base/cleanup.h"
#include "obj/elf_file.h"

struct elf_pieces {
	struct elf_file *file; /* borrowed */
	uint64_t offset, size; /* of the range */
	uint64_t at;	       /* of the piece at hand, in the range */
	size_t n;	       /* its bytes */
	_Alignas(8) unsigned char bytes[ELF_PIECE_MAX];
};

/* -ENOMEM */
int elf_pieces_new(struct elf_pieces **ret, struct elf_file *file);
void elf_pieces_free(struct elf_pieces *pieces); /* NULL is fine */
DEFINE_FREEP(elf_pieces)

/* Begins anew with a range, of which nothing is read yet. */
void elf_pieces_begin(struct elf_pieces *pieces, uint64_t offset, uint64_t size);

/*
 * On to the next piece, 1; 0: that was all; or a negative errno of reading it. It begins
 * with the last `overlap` bytes of the piece before, less than ELF_PIECE_MAX, so what has
 * one byte more than that is whole in one of them.
 */
int elf_pieces_next(struct elf_pieces *pieces, size_t overlap);

#endif
