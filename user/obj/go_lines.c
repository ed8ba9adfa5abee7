// SPDX-License-Identifier: BSD-2-Clause
/*
 * A place in a function's code has a file, a line and the number of the innermost
 * function that was inlined there, or -1. That function's entry has its name and a place
 * in the same code that has the file and line of the call, and the number of the next
 * one. (Go 1.18 and 1.19 have that number in the entry as well; it is the same.)
 */
#include "obj/go_lines.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/name.h"
#include "obj/go_values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GO_STEPS_MAX   (1u << 28) /* for all of a request */
#define GO_DEPTH_MAX   256	  /* of functions within each other; deeper is garbage */
#define CALL_ENTRY_MAX 20

/* An entry of an inlined function: where its name's and its place's offsets are. */
struct call_form {
	uint32_t bytes, name_at, place_at;
};

static const struct call_form form_1_18 = { 20, 12, 16 }, form_1_20 = { 16, 4, 8 };

struct go_lines_pass {
	struct elf_file *file;
	struct go_table table;
	const struct call_form *form;
	uint64_t funcdata; /* 0: not known */
	uint32_t steps;	   /* that may still be taken */
	struct source_location locations[INLINES_MAX + 1];
	size_t name_at[INLINES_MAX]; /* of a location, in text */
	struct str text;
};

/* Of one function. */
struct go_lines_function {
	struct go_function function;
	uint32_t inlined; /* where the numbers of inlined functions are; 0: nowhere */
	uint64_t calls;	  /* their entries, as linked; 0: not known */
};

struct go_inlined {
	const char *name;
	uint64_t place; /* of the call */
};

static void pass_close(struct go_lines_pass *pass)
{
	go_table_close(&pass->table);
	str_free(&pass->text);
}

/* -1: there is none. */
static int32_t value_at(struct go_lines_pass *pass, const struct go_function *function,
			uint32_t values_at, uint64_t pc)
{
	struct go_values values;

	go_values_begin(&pass->table, function, values_at, &values);
	while (pass->steps && go_values_next(&values)) {
		pass->steps--;
		if (pc < values.end)
			return values.value;
	}
	return -1;
}

static bool find_function(struct go_lines_pass *pass, uint64_t pc,
			  struct go_lines_function *ret)
{
	uint32_t data, i = go_table_find(&pass->table, pc);

	*ret = (struct go_lines_function){ 0 };
	if (i >= pass->table.n_functions ||
	    !go_table_function(&pass->table, i, &ret->function))
		return false;
	ret->inlined = go_table_pcdata(&pass->table, &ret->function, GO_PCDATA_INLINED);
	if (pass->funcdata &&
	    go_table_funcdata(&pass->table, &ret->function, GO_FUNCDATA_INLINED, &data))
		ret->calls = pass->funcdata + data;
	return true;
}

static uint32_t u32_of(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A name, where one begins. */
static const char *name_of(const struct go_table *table, uint32_t at)
{
	const char *name = go_table_name(table, at);

	return name && *name && (!at || !name[-1]) ? name : NULL;
}

/* False: what is there is no entry. */
static bool read_inlined(struct go_lines_pass *pass,
			 const struct go_lines_function *within, uint32_t number,
			 struct go_inlined *ret)
{
	const struct go_function *function = &within->function;
	const struct call_form *form = pass->form;
	uint8_t entry[CALL_ENTRY_MAX];
	uint64_t offset, left;
	uint32_t place;

	if (!within->calls ||
	    !elf_file_offset(pass->file, within->calls + (uint64_t)form->bytes * number,
			     &offset, &left) ||
	    left < form->bytes || elf_file_read(pass->file, offset, entry, form->bytes))
		return false;
	place = u32_of(entry + form->place_at);
	ret->name = name_of(&pass->table, u32_of(entry + form->name_at));
	ret->place = function->begin + place;
	return ret->name && place < function->end - function->begin;
}

static void set_line(struct go_lines_pass *pass, const struct go_function *function,
		     uint64_t pc, struct source_location *location)
{
	int32_t file = value_at(pass, function, function->file, pc);
	int32_t line = value_at(pass, function, function->line, pc);
	const char *name =
		file < 0 ? NULL : go_table_file(&pass->table, function, (uint32_t)file);
	bool is_known = name && *name && line > 0;

	location->file = is_known ? name : "";
	location->line = is_known ? (uint32_t)line : 0;
}

/* How many locations there are; 0: none that can be told. */
static size_t locate(struct go_lines_pass *pass, const struct go_lines_function *within,
		     uint64_t pc)
{
	size_t n = 0;

	str_clear(&pass->text);
	for (unsigned int depth = 0; depth < GO_DEPTH_MAX; depth++) {
		int32_t number = value_at(pass, &within->function, within->inlined, pc);
		struct go_inlined inlined;

		set_line(pass, &within->function, pc, &pass->locations[n]);
		if (number < 0)
			return n + 1;
		if (!read_inlined(pass, within, (uint32_t)number, &inlined))
			return 0;
		if (n < INLINES_MAX) { /* what is left out counts for its caller */
			pass->name_at[n++] = pass->text.n;
			name_add(&pass->text, inlined.name, strlen(inlined.name));
			str_add_char(&pass->text, '\0');
		}
		pc = inlined.place;
	}
	return 0;
}

static int deliver(struct go_lines_pass *pass, uint64_t pc, size_t index,
		   inline_sink sink, void *arg)
{
	struct go_lines_function within;
	size_t n = find_function(pass, pc, &within) ? locate(pass, &within, pc) : 0;

	if (pass->text.failed)
		return str_error(&pass->text);
	/* where steps ran out there are no values, or the wrong ones */
	if (!n || !pass->steps || (n == 1 && !*pass->locations[0].file))
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		pass->locations[i].name = pass->text.s + pass->name_at[i];
	pass->locations[n - 1].name = "";
	return sink(arg, index, pass->locations, n);
}

static int begin(struct go_lines_pass *pass)
{
	int err = go_table_open(&pass->table, pass->file);

	if (err || !pass->table.n_functions)
		return err;
	err = go_table_find_module(&pass->table, pass->file);
	if (pass->table.module.text == pass->table.text)
		pass->funcdata = pass->table.module.funcdata;
	pass->form = pass->table.as_linked.is_1_18 ? &form_1_18 : &form_1_20;
	return err;
}

int go_lines(int fd, const uint64_t *addrs, size_t n, inline_sink sink, void *arg)
{
	AUTO_ELF file = { 0 };
	__attribute__((cleanup(pass_close))) struct go_lines_pass pass = {
		.file = &file, .steps = GO_STEPS_MAX
	};
	int err = elf_file_open(&file, fd);

	if (!err)
		err = begin(&pass);
	for (size_t i = 0; err >= 0 && pass.table.n_functions && i < n; i++)
		err = deliver(&pass, addrs[i], i, sink, arg);
	return err < 0 ? err : 0;
}
