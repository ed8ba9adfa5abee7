// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/v8_text.h"

#include "base/error.h"

#define BLOCK_BYTES (64u << 10)
#define PROBE_BYTES (8u << 10)
#define PROBE_EACH  8	       /* blocks: the builtins of V8 11 to 15 take up 25 to 36 */
#define TEXT_MAX    (1u << 30) /* that is looked through */

#define BYTES_AN_END 4096 /* on average, at most: workerd's 52 KB have 57 */

/*
 * mov %rbp, %rsp and pop %rbp, as V8 writes them. Of the two encodings that the first
 * has, compilers and assemblers take the other one. Of a block of the builtins nearly
 * each 4 KB have it (85 %), of Chromium's other 233 MB of code none. How many there are,
 * `most` at most.
 */
static size_t count_ends(const uint8_t *code, size_t n, size_t most)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= n && found < most; i++)
		found += code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] == 0xe5 &&
			 code[i + 3] == 0x5d;
	return found;
}

/* Of a file's code, which begins at an offset and has n bytes. */
struct text_search {
	struct elf_file *file;
	uint64_t offset, n;
};

/* Has the block of that number? Only its first bytes are looked at, if so many. */
static bool is_found(const struct text_search *search, uint64_t block, size_t n)
{
	uint8_t code[BLOCK_BYTES];
	uint64_t at = block * BLOCK_BYTES;

	if (at >= search->n)
		return false;
	if (n > search->n - at)
		n = (size_t)(search->n - at);
	if (elf_file_read(search->file, search->offset + at, code, n)) {
		error_clear();
		return false;
	}
	return count_ends(code, n, 1) > 0;
}

/* One that has; or n, none has. V8 may tell of some of its builtins itself, so the rest
 * lies at the end of one gap and the beginning of the next. */
static uint64_t find_any(const struct text_search *search, uint64_t n)
{
	if (is_found(search, 0, BLOCK_BYTES))
		return 0;
	for (uint64_t block = n; block-- > (n > 2 ? n - 2 : 0);)
		if (is_found(search, block, BLOCK_BYTES))
			return block;
	for (uint64_t block = PROBE_EACH; block < n; block += PROBE_EACH)
		if (is_found(search, block, PROBE_BYTES))
			return block;
	return n;
}

bool v8_text_find(struct elf_file *file, uint64_t offset, uint64_t n, size_t *ret_begin,
		  size_t *ret_end)
{
	const struct text_search search = { file, offset, n < TEXT_MAX ? n : TEXT_MAX };
	uint64_t n_blocks = (search.n + BLOCK_BYTES - 1) / BLOCK_BYTES;
	uint64_t first = find_any(&search, n_blocks), end = first + 1;

	if (first == n_blocks)
		return false;
	while (first && is_found(&search, first - 1, BLOCK_BYTES))
		first--;
	while (is_found(&search, end, BLOCK_BYTES))
		end++;
	*ret_begin = first * BLOCK_BYTES;
	*ret_end = end < n_blocks ? end * BLOCK_BYTES : search.n;
	return true;
}

bool v8_text_is(struct elf_file *file, uint64_t offset, uint64_t n)
{
	uint8_t code[BLOCK_BYTES];
	size_t found = 0, most = n / BYTES_AN_END + 1;

	for (uint64_t at = 0, some; at < n && found < most; at += some) {
		some = n - at < sizeof(code) ? n - at : sizeof(code);
		if (elf_file_read(file, offset + at, code, some)) {
			error_clear();
			return false;
		}
		found += count_ends(code, some, most - found);
	}
	return found == most;
}
