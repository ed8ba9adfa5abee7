// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/v8_text.h"

#include "base/error.h"

#define BLOCK_BYTES (64u << 10)
#define PROBE_BYTES (8u << 10)
#define PROBE_EACH  8	       /* blocks: the builtins of V8 11 to 15 take up 25 to 36 */
#define TEXT_MAX    (1u << 30) /* that is looked through */

/*
 * mov %rbp, %rsp and pop %rbp, as V8 writes them. Of the two encodings that the first has,
 * compilers and assemblers take the other one. Of a block of the builtins nearly each 4 KB
 * have it (85 %), of Chromium's other 233 MB of code none.
 */
static bool has_builtins(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] == 0xe5 &&
		    code[i + 3] == 0x5d)
			return true;
	return false;
}

/* Of a file's code, which begins at an offset and has n bytes. */
struct search {
	struct elf_file *file;
	uint64_t offset, n;
};

/* Has the block of that number? Only its first bytes are looked at, if so many. */
static bool is_found(const struct search *search, uint64_t block, size_t n)
{
	uint8_t code[BLOCK_BYTES];
	uint64_t at = block * BLOCK_BYTES;

	if (at + n > search->n)
		return false;
	if (elf_file_read(search->file, search->offset + at, code, n)) {
		error_clear();
		return false;
	}
	return has_builtins(code, n);
}

bool v8_text_find(struct elf_file *file, uint64_t offset, uint64_t n, size_t *ret_begin,
		  size_t *ret_end)
{
	const struct search search = { file, offset, n < TEXT_MAX ? n : TEXT_MAX };
	uint64_t first = 0, end;

	while (!is_found(&search, first, PROBE_BYTES)) {
		first += PROBE_EACH;
		if (first * BLOCK_BYTES >= search.n)
			return false;
	}
	end = first + 1;
	while (first && is_found(&search, first - 1, BLOCK_BYTES))
		first--;
	while (is_found(&search, end, BLOCK_BYTES))
		end++;
	*ret_begin = first * BLOCK_BYTES;
	*ret_end = end * BLOCK_BYTES;
	return true;
}
