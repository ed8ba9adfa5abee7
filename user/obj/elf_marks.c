// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_marks.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <string.h>

#define MARK_BYTES_MAX 64
#define READ_ONLY      ".rodata"

/* In two, so that no program that has this table has the text. */
struct mark {
	const char *first, *second;
};

/* Who needs libraries, or is one, and has no such import sets no key: of 2,359 files of a
 * Debian machine with compilers at most 146 are searched further. (ICU's data is 30 MB of
 * a library that needs none.) */
static const struct mark sets_slot = { "pthread_set", "specific" };

/*
 * Of folly/tracing/AsyncStack.cpp: of pthread_key_create() that failed;
 * and of an assertion, which libunifex's source/async_stack.cpp has, too.
 */
static const struct mark marks[] = {
	{ "Failed to initialise folly_async", "_stack_root_tls_key" },
	{ "currentThreadAsync", "StackRoot.get() == &root_" },
};

static bool piece_holds(const char *piece, size_t n, const struct mark *mark)
{
	size_t first = strlen(mark->first), second = strlen(mark->second);
	const char *at = piece, *end = piece + n;

	while ((at = memmem(at, (size_t)(end - at), mark->first, first))) {
		at += first;
		if ((size_t)(end - at) >= second && !memcmp(at, mark->second, second))
			return true;
	}
	return false;
}

/* Pieces overlap by the longest mark. */
static bool range_holds(struct elf_file *file, uint64_t offset, uint64_t bytes,
			const struct mark *of, size_t n_marks)
{
	AUTO_FREE char *piece = malloc(ELF_PIECE_MAX);

	for (uint64_t at = 0; piece && at < bytes; at += ELF_PIECE_MAX - MARK_BYTES_MAX) {
		uint64_t left = bytes - at;
		size_t n = left < ELF_PIECE_MAX ? left : ELF_PIECE_MAX;

		if (elf_file_read(file, offset + at, piece, n)) {
			error_clear();
			return false;
		}
		for (size_t i = 0; i < n_marks; i++)
			if (piece_holds(piece, n, &of[i]))
				return true;
	}
	return false;
}

/* .rodata, .rodata.str1.8, … */
static bool is_read_only(struct elf_file *file, const Elf64_Shdr *sh)
{
	const Elf64_Shdr *names = &file->shdrs[file->header.e_shstrndx];
	const size_t n = strlen(READ_ONLY);
	char name[sizeof(READ_ONLY)];

	if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_ALLOC) ||
	    sh->sh_flags & (SHF_WRITE | SHF_EXECINSTR))
		return false;
	if (sh->sh_name >= names->sh_size || names->sh_size - sh->sh_name < n)
		return false;
	if (elf_file_read(file, names->sh_offset + sh->sh_name, name, n)) {
		error_clear();
		return false;
	}
	return !memcmp(name, READ_ONLY, n);
}

bool elf_marks_async(struct elf_file *file, const struct elf_dynamic *dynamic)
{
	const struct elf_table *imports = &dynamic->table;

	if ((dynamic->needs_libraries || dynamic->soname) &&
	    !range_holds(file, imports->strings_offset, imports->strings_bytes,
			 &sets_slot, 1))
		return false;
	if (file->header.e_shstrndx >= file->n_shdrs)
		return false;
	for (size_t i = 0; i < file->n_shdrs; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];

		if (is_read_only(file, sh) &&
		    range_holds(file, sh->sh_offset, sh->sh_size, marks,
				sizeof(marks) / sizeof(*marks)))
			return true;
	}
	return false;
}
