// SPDX-License-Identifier: BSD-2-Clause
#include "obj/bare_end.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/code_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define BARE_MAX    (32u << 10) /* bytes of a function */
#define BARE_BUDGET (64u << 20) /* of all of them that are looked at */

static int read_starts(struct bare_end *bare, struct elf_file *file, const uint8_t *bytes,
		       size_t n)
{
	const struct code_text text = {
		.bytes = bytes,
		.n = n,
		.vaddr = bare->start,
		.is_arm64 = file->header.e_machine == EM_AARCH64,
		.is_begun = true,
	};
	AUTO(code_starts) starts = NULL;
	int err = code_starts_new(&starts, &text);
	size_t at, called;

	if (err)
		return err;
	/* the first one is its own */
	if (!code_starts_next(starts, &at) || !code_starts_next(starts, &at))
		at = n;
	called = code_starts_called(starts, 1);
	bare->end = bare->start + at;
	bare->first_called = bare->start + (called < at ? called : at);
	return 0;
}

int bare_end_find(struct bare_end *bare, struct elf_file *file,
		  const struct candidate *function)
{
	uint64_t start = function->start, n = function->end - start, offset, room;
	AUTO_FREE uint8_t *bytes = NULL;

	if (bare->start == start && bare->end)
		return 0;
	n = n < BARE_MAX ? n : BARE_MAX;
	bare->start = bare->end = bare->first_called = start;
	bare->bytes += n;
	if (bare->bytes > BARE_BUDGET)
		return 0;
	bytes = malloc(n);
	if (!bytes)
		return fail(-ENOMEM, "no memory for a function");
	if (!elf_file_offset(file, start, &offset, &room) || room < n ||
	    elf_file_read(file, offset, bytes, n)) {
		error_clear();
		return 0;
	}
	return read_starts(bare, file, bytes, n);
}
