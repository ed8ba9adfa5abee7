// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of Go's code its own table is asked first (obj/go_lines.h): it says the same as debug
 * information, of more addresses, for a fraction of the time.
 *
 * The rest is left to libdw, which reads; this asks. Of each unit that holds a wanted
 * address the tree of functions is gone through once, for all of them:
 * dwarf_getscopes() would go through it for each, needs .debug_aranges to find the unit
 * (clang writes none) and does not look into namespaces, where clang's functions are.
 *
 * What else a file names is not opened here: the worker may not. The files of split units
 * are handed over, and each is open only while its unit is read. Time is the caller's to
 * limit.
 */
#include "obj/inlines.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "obj/dwarf_file.h"
#include "obj/go_lines.h"
#include "obj/inline_name.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

#define SCOPES_MAX (1u << 20) /* of a unit: inlined functions that matter */

struct address_query {
	uint64_t addr;
	size_t index;
	uint32_t scope; /* the innermost inlined function that holds it; 0: none */
	bool done;
};

/* A function that was inlined. */
struct inline_scope {
	Dwarf_Die die;
	uint32_t parent; /* that it was inlined into; 0: no such */
};

struct inline_pass {
	struct address_query *queries; /* by address */
	size_t n;
	VEC(struct inline_scope) scopes; /* of this unit, from 1 */
	VEC(size_t) claimed;		 /* wanted that this unit holds */
	const struct dwarf_file *file, *alternate;
	Dwarf_Die unit;
	Dwarf_Off visited; /* of the unit's entries the last */
	const struct inline_files *files;
	const struct split_unit *split; /* that has the unit's functions; NULL: itself */
	int split_err;			/* the last of a split file's */
	struct dwarf_lines lines;	/* of the unit */
	Dwarf_Files *sources;
	struct inline_names known;
	struct source_location locations[INLINES_MAX + 1];
	size_t name_at[INLINES_MAX]; /* of a location, in text */
	struct str text;
	inline_sink sink;
	void *arg;
};

static void pass_close(struct inline_pass **pass)
{
	if (!*pass)
		return;
	vec_free(&(*pass)->scopes);
	vec_free(&(*pass)->claimed);
	inline_names_free(&(*pass)->known);
	str_free(&(*pass)->text);
	free((*pass)->queries);
	free(*pass);
}

static int by_address(const void *a, const void *b)
{
	const struct address_query *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The first that is wanted at or behind an address. */
static size_t first_from(const struct inline_pass *pass, uint64_t addr)
{
	return LOWER_BOUND(pass->n, i, pass->queries[i].addr < addr);
}

/* Of a function's code. */
struct entering {
	struct inline_pass *pass;
	uint32_t scope;
	bool any; /* wanted addresses are in it */
};

/* At 0 is what the linker threw away. */
static void enter_range(void *arg, uint64_t start, uint64_t end)
{
	struct entering *entering = arg;
	struct inline_pass *pass = entering->pass;

	for (size_t i = first_from(pass, start);
	     start && i < pass->n && pass->queries[i].addr < end; i++) {
		pass->queries[i].scope = entering->scope;
		entering->any = true;
	}
}

/* Does a function's code hold wanted addresses? They are in scope then. */
static bool enter(struct inline_pass *pass, Dwarf_Die *die, uint32_t scope)
{
	struct entering entering = { pass, scope, false };
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (pass->split)
		split_unit_ranges(pass->split, die, enter_range, &entering);
	else
		while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
			enter_range(&entering, start, end);
	return entering.any;
}

static int enter_inlined(struct inline_pass *pass, Dwarf_Die *die, uint32_t parent,
			 uint32_t *ret_scope)
{
	uint32_t scope = (uint32_t)pass->scopes.n;

	*ret_scope = 0;
	if (scope > SCOPES_MAX || !enter(pass, die, scope))
		return 0;
	*ret_scope = scope;
	return vec_push(&pass->scopes, ((struct inline_scope){ *die, parent }));
}

static int visit_children(struct inline_pass *pass, Dwarf_Die *of, uint32_t scope,
			  unsigned int depth);

static int visit(struct inline_pass *pass, Dwarf_Die *die, uint32_t scope,
		 unsigned int depth)
{
	uint32_t inner;
	int err;

	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		err = enter_inlined(pass, die, scope, &inner);
		return err || !inner ? err : visit_children(pass, die, inner, depth);
	case DW_TAG_subprogram: /* a lambda's lies in one whose code is elsewhere */
		enter(pass, die, 0);
		return visit_children(pass, die, 0, depth);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return visit_children(pass, die, scope, depth);
	default:
		return 0;
	}
}

static int visit_children(struct inline_pass *pass, Dwarf_Die *of, uint32_t scope,
			  unsigned int depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth == INLINE_DEPTH_MAX || dwarf_child(of, &die))
		return 0;
	/* they lie in the order of the visit: a sibling that was somebody's child would
	 * have all below it visited once more, at each level */
	while (dwarf_dieoffset(&die) > pass->visited) {
		pass->visited = dwarf_dieoffset(&die);
		err = visit(pass, &die, scope, depth + 1);
		if (err || dwarf_siblingof(&die, &die))
			break;
	}
	return err;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &value) || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static void set_line(struct source_location *location, const char *file, uint32_t line)
{
	location->file = file ? file : "";
	location->line = file ? line : 0;
}

/* The functions that were inlined there, from the innermost to the one at whose place
 * *location then is. */
static int add_inlined(struct inline_pass *pass, uint32_t scope,
		       struct source_location **location)
{
	size_t n = 0;

	str_clear(&pass->text);
	for (uint32_t i = scope; i; i = pass->scopes.items[i].parent) {
		Dwarf_Die *die = &pass->scopes.items[i].die;
		const char *file;
		int err = 1;

		if (n < INLINES_MAX) {
			pass->name_at[n] = pass->text.n;
			err = inline_name(&pass->known, die, &pass->text);
		}
		if (err < 0)
			return err;
		if (!err) { /* one without a name counts for its caller */
			str_add_char(&pass->text, '\0');
			n++;
			++*location;
		}
		file = pass->sources ? dwarf_filesrc(pass->sources,
						     number_of(die, DW_AT_call_file),
						     NULL, NULL)
				     : NULL;
		set_line(*location, file, number_of(die, DW_AT_call_line));
	}
	for (size_t i = 0; !pass->text.failed && i < n; i++)
		pass->locations[i].name = pass->text.s + pass->name_at[i];
	return str_error(&pass->text);
}

/* Of all that an answer may have come from. */
static int files_error(const struct inline_pass *pass)
{
	int err = dwarf_file_error(pass->file);

	if (!err)
		err = dwarf_file_error(pass->alternate);
	return err || !pass->split ? err : dwarf_file_error(&pass->split->file);
}

static int deliver(struct inline_pass *pass, struct address_query *query)
{
	Dwarf_Line *row = dwarf_getsrc_die(&pass->lines.unit, query->addr);
	const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	struct source_location *location = pass->locations;
	int line = 0, err;

	if (row && dwarf_lineno(row, &line))
		line = 0;
	set_line(location, file, (uint32_t)line);
	err = add_inlined(pass, query->scope, &location);
	if (!err)
		err = files_error(pass);
	if (err)
		return err;
	location->name = "";
	query->done = true;
	if (location == pass->locations && !*location->file)
		return 0;
	return pass->sink(pass->arg, query->index, pass->locations,
			  (size_t)(location - pass->locations) + 1);
}

/* The wanted addresses that the unit says to hold, and that no other held. */
static int claim(struct inline_pass *pass)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int err = 0;

	pass->claimed.n = 0;
	/* what the linker threw away begins at 0 */
	while (!err && (at = dwarf_ranges(&pass->unit, at, &base, &start, &end)) > 0)
		for (size_t i = first_from(pass, start);
		     start && !err && i < pass->n && pass->queries[i].addr < end; i++) {
			pass->queries[i].scope = 0;
			if (!pass->queries[i].done)
				err = vec_push(&pass->claimed, i);
		}
	return err;
}

/* The file that has the unit's functions, or NULL. */
static const struct split_file *find_split(struct inline_pass *pass)
{
	const struct inline_files *files = pass->files;
	uint64_t id;

	if (!files->n_splits || !split_unit_is_skeleton(&pass->unit, &id))
		return NULL;
	for (size_t i = 0; i < files->n_splits; i++)
		if (files->splits[i].id == id)
			return &files->splits[i];
	return NULL;
}

/* What is claimed, with the functions below a unit's root. */
static int deliver_below(struct inline_pass *pass, Dwarf_Die *root)
{
	int err;

	pass->scopes.n = 0;
	pass->visited = dwarf_dieoffset(root);
	err = vec_push(&pass->scopes, (struct inline_scope){ 0 });
	if (!err)
		err = visit_children(pass, root, 0, 0);
	for (size_t i = 0; err >= 0 && i < pass->claimed.n; i++) {
		struct address_query *query = &pass->queries[pass->claimed.items[i]];

		if (!query->done)
			err = deliver(pass, query);
	}
	return err;
}

static int deliver_split(struct inline_pass *pass, const struct split_file *file)
{
	struct split_unit split = { 0 };
	int err = split_unit_open(&split, file->fd, pass->file, &pass->unit);

	if (err) { /* its lines are worth having */
		pass->split_err = err;
		split_unit_close(&split);
		return deliver_below(pass, &pass->unit);
	}
	pass->split = &split;
	err = deliver_below(pass, &split.die);
	pass->split = NULL;
	inline_names_forget(&pass->known);
	split_unit_close(&split);
	return err;
}

static int read_unit(struct inline_pass *pass)
{
	const struct split_file *split;
	size_t n_files;
	int err = claim(pass);

	if (err || !pass->claimed.n)
		return err;
	dwarf_lines_open(&pass->lines, pass->file, &pass->unit);
	if (dwarf_getsrcfiles(&pass->lines.unit, &pass->sources, &n_files))
		pass->sources = NULL;
	split = find_split(pass);
	err = split ? deliver_split(pass, split) : deliver_below(pass, &pass->unit);
	dwarf_lines_close(&pass->lines);
	return err < 0 ? err : pass->sink(pass->arg, 0, NULL, 0);
}

static int read_units(struct inline_pass *pass, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	int more = 0, err = 0;

	while (err >= 0 && !(more = dwarf_get_units(dwarf, unit, &unit, NULL, &type,
						    &pass->unit, NULL)))
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = read_unit(pass);
	if (err >= 0 && more < 0)
		return fail(-EBADMSG, "debug information: %s", dwarf_errmsg(-1));
	return err < 0 ? err : 0;
}

static int read_file(struct inline_pass *pass, const struct inline_request *request)
{
	AUTO_DWARF alternate = { 0 }; /* closed after the one that points into it */
	AUTO_DWARF file = { 0 };
	int err;

	err = dwarf_file_open(&file, request->fd);
	if (err || !file.dwarf)
		return err;
	if (request->files.alternate >= 0)
		err = dwarf_file_open(&alternate, request->files.alternate);
	if (err) /* the file's own part is worth having */
		error_clear();
	else if (alternate.dwarf)
		dwarf_setalt(file.dwarf, alternate.dwarf);
	pass->file = &file;
	pass->alternate = &alternate;
	err = read_units(pass, file.dwarf);
	if (!err)
		err = files_error(pass);
	pass->file = pass->alternate = NULL;
	return err ? err : pass->split_err;
}

/* What Go's table answered. */
struct go_answers {
	bool *answered; /* by index */
	size_t n;	/* how many */
	inline_sink sink;
	void *arg;
	int sink_err;
};

static int on_go_line(void *arg, size_t index, const struct source_location *locations,
		      size_t n)
{
	struct go_answers *answers = arg;

	answers->answered[index] = true;
	answers->n++;
	answers->sink_err = answers->sink(answers->arg, index, locations, n);
	return answers->sink_err;
}

/* A damaged table may still leave debug information to be read. */
static int ask_go(const struct inline_request *request, struct go_answers *answers)
{
	int err = go_lines(request->fd, request->addrs, request->n, on_go_line, answers);

	if (answers->sink_err < 0 || err == -ENOMEM)
		return err;
	error_clear();
	return answers->n ? answers->sink(answers->arg, 0, NULL, 0) : 0;
}

int elf_inlines(const struct inline_request *request, inline_sink sink, void *arg)
{
	size_t n = request->n;
	__attribute__((cleanup(pass_close))) struct inline_pass *pass =
		calloc(1, sizeof(*pass));
	AUTO_FREE bool *answered = calloc(n + 1, sizeof(*answered));
	struct go_answers answers = { answered, 0, sink, arg, 0 };
	int err;

	if (!pass || !answered ||
	    !(pass->queries = calloc(n + 1, sizeof(*pass->queries))))
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	err = ask_go(request, &answers);
	if (err < 0 || (n && answers.n == n))
		return err < 0 ? err : 0;
	for (size_t i = 0; i < n; i++)
		if (!answered[i])
			pass->queries[pass->n++] =
				(struct address_query){ .addr = request->addrs[i],
							.index = i };
	qsort(pass->queries, pass->n, sizeof(*pass->queries), by_address);
	pass->files = &request->files;
	pass->sink = sink;
	pass->arg = arg;
	return read_file(pass, request);
}
