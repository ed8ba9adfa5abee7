// SPDX-License-Identifier: BSD-2-Clause
#include "obj/go_table.h"

#include "base/error.h"
#include "base/search.h"
#include "obj/elf_pieces.h"
#include "obj/elf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* Words of the header behind its first 8 bytes. */
enum { N_FUNCTIONS, N_FILES, TEXT, NAMES, UNITS, FILES, STEPS, ENTRIES, N_WORDS };

#define GO_HEADER_BYTES	  (8 + 8 * N_WORDS)
#define TABLE_ALIGNMENT	  32
#define ENTRY_BYTES	  8  /* {start of the code, place of the record} */
#define GO_RECORD_BYTES	  44 /* the record's beginning, which all of them have */
#define RECORD_BYTES_1_18 40
#define RECORD_BYTES_1_20 44 /* with the line where the function starts */
#define NAME_AT		  4
#define SP_AT		  16
#define FILE_AT		  20
#define LINE_AT		  24
#define N_PCDATA_AT	  28
#define UNIT_AT		  32
#define FLAGS_BACK	  3 /* from the end of the record */
#define N_FUNCDATA_BACK	  1
#define NOTHING		  UINT32_MAX /* where no data of a kind, or no file, is */
#define GO_NAME_MAX	  (1u << 16) /* a longer one is none */

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

static struct go_parts parts_at(const struct go_table *table, uint64_t vaddr)
{
	return (struct go_parts){
		.table = vaddr,
		.names = vaddr + table->names,
		.units = vaddr + table->units,
		.files = vaddr + table->files,
		.steps = vaddr + table->steps,
		.entries = vaddr + table->entries,
		.end = vaddr + table->n,
		.first = u32_at(table, table->entries),
		.is_1_18 = u32_at(table, 0) == MAGIC_1_18,
	};
}

int go_table_find_module(struct go_table *table, struct elf_file *file)
{
	if (table->has_looked)
		return 0;
	table->has_looked = true;
	return go_module_find(file, &table->as_linked, &table->module);
}

/* Where the program's code begins; 0: it can't be told. 1.26 has stopped to write it into
 * the table. */
static int find_text(struct go_table *table, struct elf_file *file)
{
	int err = 0;

	table->text = word(table, TEXT);
	if (!table->text) {
		err = go_table_find_module(table, file);
		table->text = table->module.text;
	}
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
	    word(table, UNITS) >= table->n || word(table, FILES) >= table->n ||
	    word(table, STEPS) >= table->n || word(table, ENTRIES) >= table->n ||
	    word(table, N_FUNCTIONS) >= (table->n - word(table, ENTRIES)) / ENTRY_BYTES)
		return false;
	table->quantum = table->bytes[6];
	table->record_bytes = magic == MAGIC_1_18 ? RECORD_BYTES_1_18 : RECORD_BYTES_1_20;
	table->names = (uint32_t)word(table, NAMES);
	table->units = (uint32_t)word(table, UNITS);
	table->files = (uint32_t)word(table, FILES);
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
	table->as_linked = parts_at(table, sh->sh_addr);
	err = find_text(table, file);
	if (err)
		return err;
	table->n_functions = (uint32_t)word(table, N_FUNCTIONS);
	return table->n_functions && table->text && is_sorted(table, file)
		       ? 0
		       : fail(-EBADMSG, "Go's table of functions is of no code");
}

/* How far behind the first of n bytes a table seems to begin; n: nowhere. */
static size_t find_header(const uint8_t *bytes, size_t n)
{
	static const uint8_t heads[][6] = { { 0xf0, 0xff, 0xff, 0xff, 0, 0 },
					    { 0xf1, 0xff, 0xff, 0xff, 0, 0 } };

	for (size_t at = 0; at + 8 <= n; at += TABLE_ALIGNMENT)
		if ((!memcmp(bytes + at, heads[0], sizeof(heads[0])) ||
		     !memcmp(bytes + at, heads[1], sizeof(heads[1]))) &&
		    bytes[at + 7] == 8)
			return at;
	return n;
}

/* From the header that is found on, up to the section's end; *ret_found: is there one? */
static int find_within(struct elf_file *file, Elf64_Shdr *section, bool *ret_found)
{
	AUTO(elf_pieces) pieces = NULL;
	uint64_t size = section->sh_size < GO_TABLE_MAX ? section->sh_size : GO_TABLE_MAX;
	int err = elf_pieces_new(&pieces, file);
	uint64_t at;

	if (err)
		return err;
	elf_pieces_begin(pieces, section->sh_offset, size);
	while ((err = elf_pieces_next(pieces, 0)) > 0) {
		at = find_header(pieces->bytes, pieces->n);
		if (at == pieces->n)
			continue;
		*ret_found = true;
		at += pieces->at;
		section->sh_offset += at;
		section->sh_addr += at;
		section->sh_size -= at;
		return 0;
	}
	return err;
}

/*
 * A position-independent program with C in it, before Go 1.26: there, C's linker has put
 * the table among what is written by relocations and no more. The header alone could be
 * anything, so runtime.moduledata has to know of it.
 */
static int open_merged(struct go_table *table, struct elf_file *file)
{
	const Elf64_Shdr *sh;
	Elf64_Shdr section;
	bool found = false;
	int err = elf_section_find(file, ".go.buildinfo", &sh);

	if (!err && sh)
		err = elf_section_find(file, ".data.rel.ro", &sh);
	if (err || !sh || sh->sh_addr % TABLE_ALIGNMENT)
		return err;
	section = *sh;
	err = find_within(file, &section, &found);
	if (err || !found)
		return err;
	err = load(table, file, &section);
	if (!err)
		err = go_table_find_module(table, file);
	return err || table->module.text == table->text
		       ? err
		       : fail(-EBADMSG, "Go's table of functions is of no program");
}

int go_table_open(struct go_table *table, struct elf_file *file)
{
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, ".gopclntab", &sh);

	*table = (struct go_table){ 0 };
	if (!err && !sh) /* of a position-independent one, before Go 1.26 */
		err = elf_section_find(file, ".data.rel.ro.gopclntab", &sh);
	if (!err)
		err = sh ? load(table, file, sh) : open_merged(table, file);
	if (err)
		go_table_close(table);
	return err;
}

/* From a part's beginning on. */
static const char *text_at(const struct go_table *table, uint32_t part, uint32_t at)
{
	size_t from = (size_t)part + at, left = from < table->n ? table->n - from : 0;
	const char *text = (const char *)table->bytes + (left ? from : 0);

	return memchr(text, '\0', left < GO_NAME_MAX ? left : GO_NAME_MAX) ? text : NULL;
}

const char *go_table_name(const struct go_table *table, uint32_t at)
{
	return text_at(table, table->names, at);
}

/* The i-th number of some that begin at a place. */
static bool number_at(const struct go_table *table, size_t from, uint32_t i,
		      uint32_t *ret)
{
	size_t at = from + (size_t)4 * i;

	if (table->n < 4 || at > table->n - 4)
		return false;
	*ret = u32_at(table, at);
	return true;
}

const char *go_table_file(const struct go_table *table,
			  const struct go_function *function, uint32_t number)
{
	size_t unit = table->units + (size_t)4 * function->unit;
	uint32_t at;

	if (!number_at(table, unit, number, &at) || at == NOTHING)
		return NULL;
	return text_at(table, table->files, at);
}

bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret)
{
	size_t entry = table->entries + (size_t)ENTRY_BYTES * i;
	size_t at = (size_t)table->entries + u32_at(table, entry + 4);

	ret->begin = start_of(table, i);
	ret->end = start_of(table, i + 1);
	if (at + GO_RECORD_BYTES > table->n)
		return false;
	ret->name = go_table_name(table, u32_at(table, at + NAME_AT));
	ret->sp = u32_at(table, at + SP_AT);
	ret->file = u32_at(table, at + FILE_AT);
	ret->line = u32_at(table, at + LINE_AT);
	ret->unit = u32_at(table, at + UNIT_AT);
	ret->record = (uint32_t)at;
	ret->flags = table->bytes[at + table->record_bytes - FLAGS_BACK];
	return ret->name != NULL;
}

/* Behind the record are the numbers of all kinds of values, then those of data. */
uint32_t go_table_pcdata(const struct go_table *table, const struct go_function *function,
			 enum go_pcdata kind)
{
	uint32_t at, n = u32_at(table, function->record + N_PCDATA_AT);

	if (kind >= n ||
	    !number_at(table, (size_t)function->record + table->record_bytes, kind, &at))
		return 0;
	return at;
}

bool go_table_funcdata(const struct go_table *table, const struct go_function *function,
		       enum go_funcdata kind, uint32_t *ret)
{
	size_t end = (size_t)function->record + table->record_bytes;
	uint32_t n_pcdata = u32_at(table, function->record + N_PCDATA_AT);

	return kind < table->bytes[end - N_FUNCDATA_BACK] &&
	       number_at(table, end + (size_t)4 * n_pcdata, kind, ret) && *ret != NOTHING;
}

uint32_t go_table_find(const struct go_table *table, uint64_t vaddr)
{
	uint32_t n = (uint32_t)LOWER_BOUND((size_t)table->n_functions + 1, i,
					   start_of(table, (uint32_t)i) <= vaddr);

	return n ? n - 1 : table->n_functions;
}
