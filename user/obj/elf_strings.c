// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_strings.h"

#include <inttypes.h>
#include <string.h>

void elf_strings_init(struct elf_strings *strings, struct elf_file *file,
		      const struct elf_table *table)
{
	strings->file = file;
	strings->offset = table->strings_offset;
	strings->bytes = table->strings_bytes;
	strings->window_at = 0;
	strings->window_n = 0;
}

const char *elf_strings_at(struct elf_strings *strings, uint64_t at, size_t *ret_n)
{
	uint64_t left = at < strings->bytes ? strings->bytes - at : 0;
	size_t need = left < ELF_HEAD_BYTES ? left : ELF_HEAD_BYTES;
	uint64_t into = at - strings->window_at;
	const char *name;

	*ret_n = 0;
	if (!need)
		return "";
	if (at < strings->window_at || into > strings->window_n ||
	    need > strings->window_n - into) {
		size_t n = left < ELF_WINDOW_BYTES ? left : ELF_WINDOW_BYTES;

		strings->window_n = 0;
		if (elf_file_read(strings->file, strings->offset + at, strings->window,
				  n))
			return "";
		strings->window_at = at;
		strings->window_n = n;
	}
	name = strings->window + (at - strings->window_at);
	*ret_n = strnlen(name, need);
	return name;
}

void elf_strings_whole(struct elf_strings *strings, uint64_t at, struct str *ret)
{
	uint64_t first = at;
	const char *piece;
	size_t n;

	str_clear(ret);
	do {
		piece = elf_strings_at(strings, at, &n);
		str_add_bytes(ret, piece, n);
		at += n;
	} while (n == ELF_HEAD_BYTES && ret->n < ELF_NAME_BYTES);
	if (n == ELF_HEAD_BYTES)
		str_addf(ret, "+0x%" PRIx64, first);
}
