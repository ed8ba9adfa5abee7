// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_section.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

static bool in_file(const struct elf_file *file, const Elf64_Shdr *sh)
{
	return sh->sh_type != SHT_NOBITS && sh->sh_offset <= file->bytes &&
	       sh->sh_size <= file->bytes - sh->sh_offset;
}

int elf_section_find(struct elf_file *file, const char *name, const Elf64_Shdr **ret)
{
	const Elf64_Shdr *strings;
	AUTO_FREE char *names = NULL;
	size_t n, length = strlen(name) + 1;
	int err;

	*ret = NULL;
	if (file->header.e_shstrndx >= file->n_shdrs)
		return 0;
	strings = &file->shdrs[file->header.e_shstrndx];
	if (!in_file(file, strings))
		return 0;
	n = strings->sh_size < SECTION_NAMES_MAX ? (size_t)strings->sh_size
						 : SECTION_NAMES_MAX;
	names = malloc(n + 1);
	if (!names)
		return fail(-ENOMEM, "no memory for section names");
	err = elf_file_read(file, strings->sh_offset, names, n);
	for (size_t i = 0; !err && i < file->n_shdrs && !*ret; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];

		if (sh->sh_name < n && length <= n - sh->sh_name &&
		    !memcmp(names + sh->sh_name, name, length) && in_file(file, sh))
			*ret = sh;
	}
	return err;
}
