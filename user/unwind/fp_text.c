// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/fp_text.h"

#include "base/error.h"
#include "obj/elf_pieces.h"

#include <string.h>

#define PROLOGUE_EACH 4096 /* bytes; Chromium has one for 400 to 2,000 */

static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 }; /* push, mov */

static size_t count(const struct elf_pieces *pieces)
{
	size_t n = 0;

	for (size_t i = 0; i + sizeof(prologue) <= pieces->n; i++)
		n += !memcmp(pieces->bytes + i, prologue, sizeof(prologue));
	return n;
}

bool fp_text_is(struct elf_file *file, uint64_t offset, uint64_t n)
{
	AUTO(elf_pieces) pieces = NULL;
	uint64_t least = n / PROLOGUE_EACH + 1, found = 0;
	int err = elf_pieces_new(&pieces, file);

	if (!err) {
		elf_pieces_begin(pieces, offset, n);
		while (found < least &&
		       (err = elf_pieces_next(pieces, sizeof(prologue) - 1)) > 0)
			found += count(pieces);
	}
	if (err < 0)
		error_clear();
	return found >= least;
}
