// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_pieces.h"

#include "base/error.h"

#include <errno.h>

int elf_pieces_new(struct elf_pieces **ret, struct elf_file *file)
{
	struct elf_pieces *pieces = malloc(sizeof(*pieces));

	if (!pieces)
		return fail(-ENOMEM, "no memory to look through a file");
	pieces->file = file;
	elf_pieces_begin(pieces, 0, 0);
	*ret = pieces;
	return 0;
}

void elf_pieces_free(struct elf_pieces *pieces)
{
	free(pieces);
}

void elf_pieces_begin(struct elf_pieces *pieces, uint64_t offset, uint64_t size)
{
	pieces->offset = offset;
	pieces->size = size;
	pieces->at = 0;
	pieces->n = 0;
}

int elf_pieces_next(struct elf_pieces *pieces, size_t overlap)
{
	uint64_t at = pieces->n ? pieces->at + pieces->n - overlap : 0, left;
	int err;

	left = pieces->size - at;
	if (left <= (pieces->n ? overlap : 0))
		return 0;
	pieces->at = at;
	pieces->n = left < ELF_PIECE_MAX ? (size_t)left : ELF_PIECE_MAX;
	err = elf_file_read(pieces->file, pieces->offset + at, pieces->bytes, pieces->n);
	return err ? err : 1;
}
