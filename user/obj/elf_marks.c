// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_marks.h"

#include "base/error.h"
#include "obj/elf_pieces.h"

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

static bool piece_holds(const struct elf_pieces *pieces, const struct mark *mark)
{
	size_t first = strlen(mark->first), second = strlen(mark->second);
	const unsigned char *at = pieces->bytes, *end = at + pieces->n;

	while ((at = memmem(at, (size_t)(end - at), mark->first, first))) {
		at += first;
		if ((size_t)(end - at) >= second && !memcmp(at, mark->second, second))
			return true;
	}
	return false;
}

static bool range_holds(struct elf_pieces *pieces, const struct mark *of, size_t n_marks)
{
	int err;

	while ((err = elf_pieces_next(pieces, MARK_BYTES_MAX)) > 0) {
		for (size_t i = 0; i < n_marks; i++)
			if (piece_holds(pieces, &of[i]))
				return true;
	}
	if (err)
		error_clear();
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
	AUTO(elf_pieces) pieces = NULL;

	if (elf_pieces_new(&pieces, file)) {
		error_clear();
		return false;
	}
	elf_pieces_begin(pieces, imports->strings_offset, imports->strings_bytes);
	if ((dynamic->needs_libraries || dynamic->soname) &&
	    !range_holds(pieces, &sets_slot, 1))
		return false;
	if (file->header.e_shstrndx >= file->n_shdrs)
		return false;
	for (size_t i = 0; i < file->n_shdrs; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];

		if (!is_read_only(file, sh))
			continue;
		elf_pieces_begin(pieces, sh->sh_offset, sh->sh_size);
		if (range_holds(pieces, marks, sizeof(marks) / sizeof(*marks)))
			return true;
	}
	return false;
}
