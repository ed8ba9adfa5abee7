// SPDX-License-Identifier: BSD-2-Clause
#include "obj/go_module.h"

#include "base/error.h"
#include "obj/elf_pieces.h"
#include "obj/elf_section.h"

#include <string.h>

#define SEARCH_BYTES_MAX (64u << 20) /* of a section */
#define TRIES_MAX	 64	     /* words that are the table's address, in one */

/* Words of it (runtime/symtab.go of Go's sources): each slice is three, of which the
 * first is its address. */
enum {
	TABLE,
	NAMES,
	UNITS = 4,
	FILES = 7,
	STEPS = 10,
	ENTRIES = 13,
	FUNCTIONS = 16,
	FIRST_PC = 20,
	TEXT = 22,
	FUNCDATA_1_18 = 38,
	FUNCDATA_1_20 = 40,
	WORDS = 46,
};

static bool is_of(const uint64_t *module, const struct go_parts *parts)
{
	return module[TABLE] == parts->table && module[NAMES] == parts->names &&
	       module[UNITS] == parts->units && module[FILES] == parts->files &&
	       module[STEPS] == parts->steps && module[ENTRIES] == parts->entries &&
	       module[FUNCTIONS] == parts->entries &&
	       module[FIRST_PC] == module[TEXT] + parts->first;
}

/* Since Go 1.26 functions' data lies in the table itself, and where the table ends is
 * the next word, wherever later versions put the two. */
static uint64_t funcdata_of(const uint64_t *module, const struct go_parts *parts)
{
	if (parts->is_1_18)
		return module[FUNCDATA_1_18];
	for (size_t i = FUNCDATA_1_20; i + 1 < WORDS; i++)
		if (module[i + 1] == parts->end && module[i] > parts->table &&
		    module[i] < parts->end)
			return module[i];
	return module[FUNCDATA_1_20];
}

struct module_search {
	struct elf_file *file;
	const struct go_parts *parts;
	unsigned int tries; /* that are left */
	struct go_module *found;
};

/* The words at a place in the file, if they are the module's. */
static int try_at(struct module_search *s, uint64_t offset)
{
	uint64_t module[WORDS];
	int err;

	if (offset > s->file->bytes || s->file->bytes - offset < sizeof(module))
		return 0;
	err = elf_file_read(s->file, offset, module, sizeof(module));
	if (!err && is_of(module, s->parts))
		*s->found =
			(struct go_module){ module[TEXT], funcdata_of(module, s->parts) };
	return err;
}

static bool goes_on(const struct module_search *s)
{
	return s->tries && !s->found->text;
}

static int search_piece(struct module_search *s, const struct elf_pieces *pieces)
{
	const uint64_t *words = (const void *)pieces->bytes;
	int err = 0;

	for (size_t i = 0; !err && i < pieces->n / sizeof(*words) && goes_on(s); i++) {
		if (words[i] != s->parts->table)
			continue;
		s->tries--;
		err = try_at(s, pieces->offset + pieces->at + i * sizeof(*words));
	}
	return err;
}

static int search_section(struct module_search *s, const Elf64_Shdr *sh)
{
	AUTO(elf_pieces) pieces = NULL;
	uint64_t end = sh->sh_size < SEARCH_BYTES_MAX ? sh->sh_size : SEARCH_BYTES_MAX;
	uint64_t begin = -sh->sh_addr % sizeof(uint64_t); /* as the module is aligned */
	int err = elf_pieces_new(&pieces, s->file);

	if (err || begin >= end)
		return err;
	elf_pieces_begin(pieces, sh->sh_offset + begin, end - begin);
	while (!err && goes_on(s) && (err = elf_pieces_next(pieces, 0)) > 0)
		err = search_piece(s, pieces);
	return err;
}

int go_module_find(struct elf_file *file, const struct go_parts *parts,
		   struct go_module *ret)
{
	static const char *const names[] = { ".go.module", ".noptrdata", ".data" };
	struct module_search s = { file, parts, 0, ret };
	const Elf64_Shdr *sh;
	int err = 0;

	*ret = (struct go_module){ 0 };
	for (size_t i = 0; !err && !ret->text && i < sizeof(names) / sizeof(*names);
	     i++) {
		s.tries = TRIES_MAX;
		err = elf_section_find(file, names[i], &sh);
		if (!err && sh)
			err = search_section(&s, sh);
	}
	return err;
}
