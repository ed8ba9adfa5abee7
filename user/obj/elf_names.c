// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which of several symbols names an address: the one that starts last, since
 * the innermost says most; among those of one start see name_rank(). perf
 * takes the global and then the longer one there, and shows __write or
 * _IO_puts where the program called write and puts.
 *
 * A symbol without a size (assembly) names what follows it, up to the next symbol. Where
 * there are only those that other files need, that may be any number of functions: there
 * it names its own function, as far as its instructions show (obj/bare_end.h).
 *
 * A local label of assembly may be a function or a place in one. It is a place where its
 * name says so, or where the instructions before it go on and nobody calls it.
 */
#include "obj/elf_names.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/bare_end.h"
#include "obj/candidates.h"
#include "obj/code_starts.h"
#include "obj/demangle.h"
#include "obj/elf_debugdata.h"
#include "obj/elf_plt.h"
#include "obj/elf_strings.h"
#include "obj/symbol_kind.h"
#include "obj/symbol_shelf.h"

#include <errno.h>
#include <string.h>

#define TABLE_SHIFT 32 /* which table a name is of, above its offset among the strings */

#define SYMBOLS_A_READ 64 /* pass by in the time that a single one takes to be read */

struct elf_pass {
	struct elf_file *file;
	struct elf_file
		*of; /* the symbols at hand: the same, or what it carries packed */
	uint64_t table;
	struct shelf_file *kept; /* NULL: nothing is */
	struct candidates *batch;
	struct elf_strings strings[N_SHELF_TABLES];
	const uint64_t *addrs;
	name_sink sink;
	void *arg;
	bool linked;  /* addrs are addresses as linked, not offsets */
	bool has_all; /* symbols, not only those that other files need */
	struct bare_end bare;
	struct str raw, name; /* of the symbol at hand */
};

/* The end of the section, or of the segment, in which a symbol is code; 0: it
 * is in none. */
static uint64_t code_end(const struct elf_file *file, const Elf64_Sym *sym)
{
	uint64_t vaddr = sym->st_value;

	if (sym->st_shndx < file->n_shdrs) {
		const Elf64_Shdr *sh = &file->shdrs[sym->st_shndx];

		if (!(sh->sh_flags & SHF_EXECINSTR) || vaddr < sh->sh_addr ||
		    vaddr - sh->sh_addr >= sh->sh_size)
			return 0;
		return sh->sh_addr + sh->sh_size;
	}
	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) &&
		    vaddr >= ph->p_vaddr && vaddr - ph->p_vaddr < ph->p_memsz)
			return ph->p_vaddr + ph->p_memsz;
	}
	return 0;
}

static bool is_function(const Elf64_Sym *sym)
{
	unsigned char type = ELF64_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Of those without size. */
static bool is_label(const Elf64_Sym *sym)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE &&
	       ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
}

static uint64_t rank_of(const Elf64_Sym *sym, const char *name, size_t n)
{
	unsigned char bind = ELF64_ST_BIND(sym->st_info);

	return (uint64_t)is_function(sym) << 32 |
	       name_rank(name, n, bind == STB_LOCAL, bind == STB_WEAK);
}

/* An array among the code may be code that its maker assembled (libco's switch). */
static bool may_be_code(const Elf64_Sym *sym)
{
	unsigned char type = ELF64_ST_TYPE(sym->st_info);

	return (is_function(sym) || type == STT_NOTYPE ||
		(type == STT_OBJECT && sym->st_size)) &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

static void take_sized(struct elf_pass *pass, const Elf64_Sym *sym,
		       struct candidate *symbol)
{
	const char *name;
	size_t n;

	if (!is_function(sym) && !code_end(pass->of, sym))
		return;
	if (!candidates_below(pass->batch, symbol))
		return;
	name = elf_strings_at(&pass->strings[pass->table], sym->st_name, &n);
	if (symbol_is_mapping(name, n))
		return;
	symbol->rank = rank_of(sym, name, n);
	candidates_cover(pass->batch, symbol);
}

static void take_bare(struct elf_pass *pass, const Elf64_Sym *sym,
		      struct candidate *symbol)
{
	const char *name;
	size_t n;

	if (!candidates_near(pass->batch, symbol->start, is_label(sym)))
		return;
	symbol->end = code_end(pass->of, sym);
	if (!symbol->end)
		return;
	name = elf_strings_at(&pass->strings[pass->table], sym->st_name, &n);
	if (symbol_is_mapping(name, n))
		return;
	if (symbol_is_startup(name, n) &&
	    symbol->end - symbol->start > SYMBOL_STARTUP_MAX)
		symbol->end = symbol->start + SYMBOL_STARTUP_MAX;
	symbol->rank = rank_of(sym, name, n);
	if (is_label(sym))
		symbol->kind = symbol_label_start(name, n);
	candidates_below(pass->batch, symbol);
}

static int take_symbol(void *arg, const Elf64_Sym *sym)
{
	const struct elf_pass *pass = arg;
	struct candidate symbol = {
		.order = sym->st_value,
		.start = sym->st_value,
		.end = sym->st_value + sym->st_size,
		.name = pass->table << TABLE_SHIFT | sym->st_name,
		.sized = sym->st_size != 0,
	};

	if (!may_be_code(sym) || symbol.end < symbol.start)
		return 0;
	if (symbol.sized)
		take_sized(arg, sym, &symbol);
	else
		take_bare(arg, sym, &symbol);
	return 0;
}

/* Could take_symbol() do anything with it, whatever the queries? */
static bool may_name(void *arg, const Elf64_Sym *sym, enum symbol_start *ret_kind)
{
	struct elf_pass *pass = arg;
	const char *name;
	size_t n;

	if (!may_be_code(sym) || sym->st_value + sym->st_size < sym->st_value)
		return false;
	if (sym->st_size && is_function(sym))
		return true;
	if (!code_end(pass->of, sym))
		return false;
	if (sym->st_size)
		return true;
	name = elf_strings_at(&pass->strings[pass->table], sym->st_name, &n);
	if (is_label(sym))
		*ret_kind = symbol_label_start(name, n);
	return !symbol_is_mapping(name, n);
}

static int add_queries(struct elf_pass *pass, size_t n)
{
	int err = candidates_new(pass->batch, n);

	for (size_t i = 0; !err && i < n; i++) {
		uint64_t vaddr = pass->addrs[i];

		if (pass->linked || elf_file_vaddr(pass->file, vaddr, &vaddr))
			candidates_add(pass->batch, vaddr, i);
	}
	candidates_sort(pass->batch);
	return err;
}

/* For a symbol, by its table and the offset among its strings, that begins back bytes
 * before the query. */
static int deliver(struct elf_pass *pass, size_t index, uint64_t back, uint64_t symbol,
		   const char *ending)
{
	struct str *name = &pass->name;
	uint64_t start;

	elf_strings_whole(&pass->strings[symbol >> TABLE_SHIFT], (uint32_t)symbol,
			  &pass->raw);
	if (pass->raw.failed)
		return str_error(&pass->raw);
	str_clear(name);
	demangle(name, pass->raw.s, pass->raw.n);
	if (name->n)
		str_add(name, ending);
	name_bound(name, 0);
	if (!name->n || name->failed)
		return str_error(name);
	start = pass->addrs[index] > back ? pass->addrs[index] - back : 0;
	return pass->sink(pass->arg, index, name->s, start);
}

/* Does its name say that the label is a part of the other one? */
static bool is_named_part(struct elf_pass *pass, uint64_t label, uint64_t whole)
{
	const char *name;
	size_t n;

	elf_strings_whole(&pass->strings[whole >> TABLE_SHIFT], (uint32_t)whole,
			  &pass->raw);
	name = elf_strings_at(&pass->strings[label >> TABLE_SHIFT], (uint32_t)label, &n);
	return symbol_is_part_of(name, n, pass->raw.s, pass->raw.n);
}

/* In place of a label in it: what begins before. A file of symbols alone has no
 * instructions to tell. */
static int find_whole(struct elf_pass *pass, size_t i, const struct candidate **best)
{
	uint64_t addr = pass->batch->items[i].addr;
	int err = 0;

	for (unsigned int kind = (*best)->kind; !err && kind-- > 0;) {
		const struct candidate *whole = candidates_start(pass->batch, i, kind);

		if (!whole)
			continue;
		if ((*best)->kind == START_PART &&
		    is_named_part(pass, (*best)->name, whole->name)) {
			*best = whole;
		} else if (kind == START_FUNCTION && !pass->linked) {
			err = bare_end_find(&pass->bare, pass->file, whole);
			if (!err && addr < pass->bare.first_called)
				*best = whole;
		}
	}
	return err;
}

/* *ret_best: the best symbol of the i-th query, or NULL. */
static int find_best(struct elf_pass *pass, size_t i, const struct candidate **ret_best)
{
	const struct candidate *best = candidates_best(pass->batch, i);
	int err;

	*ret_best = best;
	if (!best || best->sized || !code_starts_knows(pass->file->header.e_machine))
		return 0;
	err = find_whole(pass, i, ret_best);
	if (err || pass->has_all)
		return err;
	err = bare_end_find(&pass->bare, pass->file, *ret_best);
	if (pass->batch->items[i].addr >= pass->bare.end)
		*ret_best = NULL;
	return err;
}

/* Collects in stubs the queries that no symbol names. */
static int deliver_all(struct elf_pass *pass, struct elf_stub *stubs, size_t *ret_n_stubs)
{
	size_t n_stubs = 0;
	int err = 0;

	for (size_t i = 0; err >= 0 && i < pass->batch->n; i++) {
		const struct query *query = &pass->batch->items[i];
		const struct candidate *best;

		err = find_best(pass, i, &best);
		if (err < 0)
			break;
		if (best)
			err = deliver(pass, query->index, query->addr - best->start,
				      best->name, "");
		else
			stubs[n_stubs++] = (struct elf_stub){
				.vaddr = query->addr,
				.index = query->index,
			};
	}
	*ret_n_stubs = n_stubs;
	return err < 0 ? err : 0;
}

/* Only they need .dynsym when there is a .symtab. */
static int deliver_stubs(struct elf_pass *pass, struct elf_stub *stubs, size_t n)
{
	struct elf_dynamic dynamic;
	int err;

	n = elf_plt_decode(pass->file, stubs, n);
	if (!n)
		return 0;
	err = elf_table_dynamic(pass->file, &dynamic);
	if (!err)
		err = elf_plt_resolve(pass->file, &dynamic, stubs, n);
	if (err)
		return err == -EBADMSG ? 0 : err;
	elf_strings_init(&pass->strings[SHELF_OF_FILE], pass->file, &dynamic.table);
	for (size_t i = 0; err >= 0 && i < n; i++)
		if (stubs[i].found)
			err = deliver(pass, stubs[i].index,
				      stubs[i].vaddr - stubs[i].start, stubs[i].name,
				      "@plt");
	return err < 0 ? err : 0;
}

/* All that may name a query, by their numbers. */
static int find_in_order(const struct elf_pass *pass, struct symbol_numbers *numbers)
{
	const struct symbol_order *order = pass->kept->orders[pass->table];
	int err = 0;

	for (size_t i = 0; !err && i < pass->batch->n; i++)
		err = symbol_order_find(order, pass->batch->items[i].addr, numbers);
	symbol_numbers_sort(numbers);
	return err;
}

static int take_numbers(struct elf_pass *pass, const struct elf_table *table,
			const struct symbol_numbers *numbers)
{
	int err = 0;

	for (size_t i = 0; !err && i < numbers->of.n; i++) {
		Elf64_Sym sym;

		err = elf_table_symbol(pass->of, table, numbers->of.items[i], &sym);
		if (!err)
			err = take_symbol(pass, &sym);
	}
	return err;
}

/* 1: by an order of the symbols; 0: not so. Or a negative errno. */
static int read_by_order(struct elf_pass *pass, const struct elf_table *table)
{
	struct shelf_file *kept = pass->kept;
	struct symbol_numbers numbers = { 0 };
	uint64_t most = table->n_syms / SYMBOLS_A_READ;
	int err = 0;

	if (!kept || !shelf_file_is_usual(kept) || kept->is_refused[pass->table] ||
	    pass->batch->n > most)
		return 0;
	if (!kept->orders[pass->table])
		err = symbol_order_new(&kept->orders[pass->table], pass->of, table,
				       may_name, pass);
	if (!err)
		err = find_in_order(pass, &numbers);
	if (!err && numbers.of.n <= most) {
		err = take_numbers(pass, table, &numbers);
		err = err ? err : 1;
	}
	vec_free(&numbers.of);
	if (err != -EFBIG)
		return err;
	error_clear(); /* a pass over the table does it */
	symbol_order_free(GIVE(kept->orders[pass->table]));
	kept->is_refused[pass->table] = true;
	return 0;
}

static int read_table(struct elf_pass *pass, struct elf_file *of, uint64_t which,
		      const struct elf_table *table)
{
	int err;

	pass->of = of;
	pass->table = which;
	elf_strings_init(&pass->strings[which], of, table);
	err = read_by_order(pass, table);
	if (err)
		return err < 0 ? err : 0;
	return elf_table_symbols(of, table, take_symbol, pass);
}

static int find_symbols(struct elf_pass *pass)
{
	struct elf_dynamic dynamic;
	struct elf_table table;
	int err;

	pass->has_all = elf_table_static(pass->file, &table);
	if (!pass->has_all) {
		err = elf_table_dynamic(pass->file, &dynamic);
		if (err)
			return err;
		table = dynamic.table;
	}
	return read_table(pass, pass->file, SHELF_OF_FILE, &table);
}

/* Those that it carries packed: the shelf's, or in *own, of which that takes over what is
 * asked for often. */
static int open_packed(struct elf_pass *pass, struct elf_debugdata *own,
		       struct elf_debugdata **ret)
{
	struct shelf_file *kept = pass->kept;
	int err = 0;

	*ret = own;
	if (kept && kept->has_data)
		*ret = &kept->data;
	else
		err = elf_debugdata_open(pass->file, own);
	if (!err && *ret == own && kept && shelf_file_is_usual(kept) &&
	    own->n <= SHELF_BYTES_MAX / 2) {
		kept->data = *own;
		kept->has_data = true;
		*own = (struct elf_debugdata){ 0 };
		*ret = &kept->data;
	}
	(*ret)->file.budget = ELF_READ_MAX;
	return err;
}

/* What can't be unpacked costs nobody the other symbols' names: *ret_err. */
static int find_packed_symbols(struct elf_pass *pass, struct elf_debugdata *own,
			       int *ret_err)
{
	struct elf_debugdata *data = own;
	struct elf_table table;

	*ret_err = pass->linked ? 0 : open_packed(pass, own, &data);
	if (*ret_err || !data->bytes || !elf_table_static(&data->file, &table))
		return 0;
	return read_table(pass, &data->file, SHELF_OF_DEBUGDATA, &table);
}

static int run(const struct elf_pass *asked, int fd, size_t n)
{
	AUTO_ELF file = { 0 };
	AUTO_CANDIDATES batch = { 0 };
	AUTO_DEBUGDATA data = { 0 };
	AUTO_FREE struct elf_stub *stubs = calloc(n + 1, sizeof(*stubs));
	struct elf_pass pass = *asked;
	size_t n_stubs = 0;
	int err, packed_err = 0;

	if (!stubs)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	pass.file = &file;
	pass.batch = &batch;
	err = elf_file_open(&file, fd);
	if (!err)
		err = add_queries(&pass, n);
	if (!err)
		err = find_symbols(&pass);
	if (!err)
		err = find_packed_symbols(&pass, &data, &packed_err);
	if (!err)
		err = deliver_all(&pass, stubs, &n_stubs);
	if (!err)
		err = deliver_stubs(&pass, stubs, n_stubs);
	str_free(&pass.raw);
	str_free(&pass.name);
	return err ? err : packed_err;
}

int elf_names(struct symbol_shelf *shelf, const struct elf_names_request *request,
	      name_sink sink, void *arg)
{
	const struct elf_pass pass = {
		.addrs = request->addrs,
		.sink = sink,
		.arg = arg,
		.linked = request->linked,
		.kept = shelf ? symbol_shelf_ask(shelf, request->fd) : NULL,
	};
	int err = run(&pass, request->fd, request->n);

	if (shelf)
		symbol_shelf_trim(shelf);
	return err;
}
