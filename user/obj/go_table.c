// SPDX-License-Identifier: BSD-2-Clause
#include "obj/go_table.h"

#include "base/error.h"
#include "base/search.h"
#include "obj/elf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* Words of the header behind its first 8 bytes. */
enum { N_FUNCTIONS, N_FILES, TEXT, NAMES, UNITS, FILES, STEPS, ENTRIES, N_WORDS };

/* runtime.moduledata, which knows where the code begins: 1.26 has stopped to write that
 * into the header. */
enum { MODULE_TABLE, MODULE_FIRST_PC = 20, MODULE_TEXT = 22, MODULE_WORDS };

#define GO_HEADER_BYTES (8 + 8 * N_WORDS)
#define ENTRY_BYTES	8  /* {start of the code, place of the record} */
#define GO_RECORD_BYTES 44 /* the record's beginning, which all of them have */
#define NAME_AT		4
#define SP_AT		16
#define FLAGS_1_18	37
#define FLAGS_1_20	41	   /* behind the line where the function starts */
#define GO_NAME_MAX	(1u << 16) /* a longer one is none */

void go_table_close(struct go_table *table)
{
	free(table->bytes);
	*table = (struct go_table){ 0 };
}

static uint32_t u32_at(const struct go_table *table, size_t at)
{
	uint32_t value;

	memcpy(&value, table->bytes + at, sizeof(value));
	return value;
}

static uint64_t word(const struct go_table *table, int which)
{
	uint64_t value;

	memcpy(&value, table->bytes + 8 + 8 * (size_t)which, sizeof(value));
	return value;
}

static uint64_t start_of(const struct go_table *table, uint32_t i)
{
	return table->text + u32_at(table, table->entries + (size_t)ENTRY_BYTES * i);
}

/* Where the program's code begins; 0: it can't be told. */
static int find_text(const struct go_table *table, struct elf_file *file, uint64_t vaddr,
		     uint64_t *ret)
{
	uint64_t module[MODULE_WORDS];
	const Elf64_Shdr *sh;
	int err;

	*ret = word(table, TEXT);
	if (*ret)
		return 0;
	err = elf_section_find(file, ".go.module", &sh);
	if (err || !sh || sh->sh_size < sizeof(module))
		return err;
	err = elf_file_read(file, sh->sh_offset, module, sizeof(module));
	if (!err && module[MODULE_TABLE] == vaddr &&
	    module[MODULE_FIRST_PC] ==
		    module[MODULE_TEXT] + u32_at(table, table->entries))
		*ret = module[MODULE_TEXT];
	return err;
}

/* Do functions follow each other, in code? */
static bool is_sorted(const struct go_table *table, const struct elf_file *file)
{
	uint64_t begin = start_of(table, 0), end = start_of(table, table->n_functions);

	for (uint32_t i = 0; i < table->n_functions; i++)
		if (start_of(table, i) > start_of(table, i + 1))
			return false;
	return begin < end && elf_file_loads(file, begin, end - begin, PF_X);
}

static bool read_header(struct go_table *table)
{
	uint32_t magic = table->n < GO_HEADER_BYTES ? 0 : u32_at(table, 0);

	if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || table->bytes[7] != 8 ||
	    !table->bytes[6] || word(table, NAMES) >= table->n ||
	    word(table, STEPS) >= table->n || word(table, ENTRIES) >= table->n ||
	    word(table, N_FUNCTIONS) >= (table->n - word(table, ENTRIES)) / ENTRY_BYTES)
		return false;
	table->quantum = table->bytes[6];
	table->flags_at = magic == MAGIC_1_18 ? FLAGS_1_18 : FLAGS_1_20;
	table->names = (uint32_t)word(table, NAMES);
	table->steps = (uint32_t)word(table, STEPS);
	table->entries = (uint32_t)word(table, ENTRIES);
	return true;
}

static int load(struct go_table *table, struct elf_file *file, const Elf64_Shdr *sh)
{
	int err;

	if (sh->sh_size > GO_TABLE_MAX)
		return fail(-E2BIG, "Go's table of functions has more than %u bytes",
			    GO_TABLE_MAX);
	table->n = (size_t)sh->sh_size;
	table->bytes = malloc(table->n + 1);
	if (!table->bytes)
		return fail(-ENOMEM, "no memory for Go's table of functions");
	err = elf_file_read(file, sh->sh_offset, table->bytes, table->n);
	if (err)
		return err;
	if (!read_header(table))
		return fail(-EBADMSG, "Go's table of functions has an unknown form");
	err = find_text(table, file, sh->sh_addr, &table->text);
	if (err)
		return err;
	table->n_functions = (uint32_t)word(table, N_FUNCTIONS);
	return table->n_functions && table->text && is_sorted(table, file)
		       ? 0
		       : fail(-EBADMSG, "Go's table of functions is of no code");
}

int go_table_open(struct go_table *table, struct elf_file *file)
{
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, ".gopclntab", &sh);

	*table = (struct go_table){ 0 };
	if (!err && !sh) /* of a position-independent one, before Go 1.26 */
		err = elf_section_find(file, ".data.rel.ro.gopclntab", &sh);
	if (err || !sh)
		return err;
	err = load(table, file, sh);
	if (err)
		go_table_close(table);
	return err;
}

bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret)
{
	size_t entry = table->entries + (size_t)ENTRY_BYTES * i;
	size_t at = (size_t)table->entries + u32_at(table, entry + 4), name, left;

	ret->begin = start_of(table, i);
	ret->end = start_of(table, i + 1);
	if (at + GO_RECORD_BYTES > table->n)
		return false;
	name = (size_t)table->names + u32_at(table, at + NAME_AT);
	left = name < table->n ? table->n - name : 0;
	if (!memchr(table->bytes + (left ? name : 0), '\0',
		    left < GO_NAME_MAX ? left : GO_NAME_MAX))
		return false;
	ret->name = (const char *)table->bytes + name;
	ret->sp = u32_at(table, at + SP_AT);
	ret->flags = table->bytes[at + table->flags_at];
	return true;
}

uint32_t go_table_find(const struct go_table *table, uint64_t vaddr)
{
	uint32_t n = (uint32_t)LOWER_BOUND((size_t)table->n_functions + 1, i,
					   start_of(table, (uint32_t)i) <= vaddr);

	return n ? n - 1 : table->n_functions;
}
