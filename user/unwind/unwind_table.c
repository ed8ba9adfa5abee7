// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows come in order of address. The block that the last one lies in is kept
 * aside until the next block begins, since only then it is known whether its run
 * fits into what is left of a page.
 */
#include "unwind/unwind_table.h"

#include "base/error.h"
#include "base/vec.h"
#include "obj/elf_note.h"
#include "unwind/unwind_fp.h"
#include "unwind/unwind_bolt.h"
#include "unwind/unwind_enters.h"
#include "unwind/unwind_go.h"
#include "unwind/unwind_host.h"
#include "unwind/unwind_kept.h"
#include "unwind/unwind_luajit.h"
#include "unwind/unwind_realign.h"
#include "unwind/unwind_rules.h"
#include "unwind/unwind_synthesized.h"
#include "unwind/unwind_throw.h"

#include <errno.h>
#include <inttypes.h>

#define BLOCKS_MAX (1ULL << 32) / UNWIND_BLOCK_BYTES

struct unwind_table {
	struct unwind_head head;
	struct unwind_stats stats;
	struct unwind_rules rules;
	VEC(struct unwind_block) blocks;
	VEC(struct unwind_row) rows;
	VEC(uint64_t) firsts; /* of a copy: by row */
	uint16_t rule;	      /* in force at the end, */
	uint64_t first;	      /* and where first; 0: not told */
	size_t n_run;
	struct unwind_row run[UNWIND_BLOCK_BYTES]; /* of the last block, */
	uint64_t run_firsts[UNWIND_BLOCK_BYTES];
	uint64_t next_first; /* of the row that comes next; 0: not told */
	bool is_copy;	     /* of generated code: */
	uint8_t *code;	     /* n_code pages of it */
	uint32_t n_code;
};

static bool is_copy(const struct elf_file *file)
{
	return file->header.e_ident[EI_OSABI] == ELFOSABI_STANDALONE &&
	       file->n_phdrs == 1;
}

_Static_assert(UNWIND_BLOCK_BYTES <= UNWIND_ROWS_A_PAGE, "a run fits into a page");

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	unwind_rules_close(&table->rules);
	vec_free(&table->blocks);
	vec_free(&table->rows);
	vec_free(&table->firsts);
	free(table->code);
	free(table);
}

static const struct unwind_rule *rule_at(const struct unwind_table *table, size_t i)
{
	return &table->rules.items[i];
}

static int add_firsts(struct unwind_table *table, size_t skip)
{
	int err = vec_reserve(&table->firsts, skip + table->n_run);

	if (err)
		return err;
	memset(table->firsts.items + table->firsts.n, 0, skip * sizeof(uint64_t));
	memcpy(table->firsts.items + table->firsts.n + skip, table->run_firsts,
	       table->n_run * sizeof(uint64_t));
	table->firsts.n += skip + table->n_run;
	return 0;
}

/* The run's. */
static int add_rows(struct unwind_table *table)
{
	const struct unwind_row *rows = table->run;
	size_t left = UNWIND_ROWS_A_PAGE - table->rows.n % UNWIND_ROWS_A_PAGE;
	size_t n = table->n_run, skip = n > left ? left : 0;
	int err;

	if (table->rows.n + skip + n > UNWIND_ROWS_MAX)
		return fail(-E2BIG, "more than %u rows of call frame information",
			    UNWIND_ROWS_MAX);
	err = vec_reserve(&table->rows, skip + n);
	if (!err && table->is_copy)
		err = add_firsts(table, skip);
	if (err)
		return err;
	memset(table->rows.items + table->rows.n, 0, skip * sizeof(*rows));
	memcpy(table->rows.items + table->rows.n + skip, rows, n * sizeof(*rows));
	table->rows.n += skip + n;
	return 0;
}

/* The run kept aside becomes a block. */
static int end_block(struct unwind_table *table)
{
	const struct unwind_row *run = table->run;
	struct unwind_block block = { 0 };
	int err;

	if (table->n_run > 1 || rule_at(table, run->rule)->cfa != UNWIND_CFA_NONE) {
		err = add_rows(table);
		if (err)
			return err;
		block.first = (unsigned int)(table->rows.n - table->n_run);
		block.count = (unsigned short)table->n_run;
	}
	return vec_push(&table->blocks, block);
}

static int begin_block(struct unwind_table *table)
{
	int err = end_block(table);

	table->run[0] = (struct unwind_row){ .rule = table->rule };
	table->run_firsts[0] = table->first;
	table->n_run = 1;
	return err;
}

/* Of the next row. */
static void take_first(void *arg, uint64_t pc)
{
	struct unwind_table *table = arg;

	table->next_first = pc;
}

static int take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	static const struct unwind_rule none;
	struct unwind_table *table = arg;
	/* a runtime that goes to another stack may keep frame pointers: Erlang's does */
	bool is_torn = table->is_copy && rule->cfa == UNWIND_CFA_TORN;
	uint16_t number = unwind_rules_number(&table->rules, is_torn ? &none : rule);
	unsigned short offset = pc % UNWIND_BLOCK_BYTES;
	uint64_t first = table->next_first ? table->next_first : pc;
	int err = 0;

	table->next_first = 0;
	if (!table->n_run) {
		table->head.text = pc - offset;
		table->run[table->n_run++] = (struct unwind_row){ 0 };
	} else if (number == table->rule && (first == table->first || !table->is_copy)) {
		return 0;
	}
	if ((pc - table->head.text) / UNWIND_BLOCK_BYTES >= BLOCKS_MAX) {
		table->stats.n_left_out++;
		return 0;
	}
	while (!err && table->blocks.n < (pc - table->head.text) / UNWIND_BLOCK_BYTES)
		err = begin_block(table);
	if (err)
		return err;
	table->n_run -= table->run[table->n_run - 1].offset == offset;
	table->run_firsts[table->n_run] = first;
	table->run[table->n_run++] = (struct unwind_row){ offset, number };
	table->rule = number;
	table->first = first;
	table->stats.n_rows++;
	table->stats.rows[rule_at(table, number)->cfa]++;
	return 0;
}

/* Where the last span ended. */
struct span_cursor {
	const struct unwind_table *table;
	size_t block, row; /* of its run */
};

/* The block's row-th row, or {0}: nothing holds there. */
static struct unwind_row row_of(const struct unwind_table *table, size_t block,
				size_t row)
{
	const struct unwind_block *at = &table->blocks.items[block];

	return at->count ? table->rows.items[at->first + row] : (struct unwind_row){ 0 };
}

/* As unwind_spans: rows that differ by their block alone are one span. The last
 * block ends the text: what follows its last row is nothing's. */
static bool next_span(void *arg, struct unwind_span *ret)
{
	struct span_cursor *cursor = arg;
	const struct unwind_table *table = cursor->table;
	struct unwind_row first, row;

	if (cursor->block == table->blocks.n) {
		cursor->block = cursor->row = 0;
		return false;
	}
	first = row = row_of(table, cursor->block, cursor->row);
	ret->begin = table->head.text + cursor->block * UNWIND_BLOCK_BYTES + row.offset;
	ret->rule = rule_at(table, first.rule);
	while (cursor->block < table->blocks.n && row.rule == first.rule) {
		if (++cursor->row >= table->blocks.items[cursor->block].count) {
			cursor->block++;
			cursor->row = row.offset = 0;
		}
		if (cursor->block < table->blocks.n)
			row = row_of(table, cursor->block, cursor->row);
	}
	ret->end = table->head.text + cursor->block * UNWIND_BLOCK_BYTES + row.offset;
	return true;
}

static bool keeps_fp(const struct unwind_table *table, struct elf_file *file)
{
	struct span_cursor cursor = { .table = table };

	return unwind_fp_is_kept(file, next_span, &cursor);
}

static bool is_host(struct unwind_table *table, struct elf_file *file)
{
	struct span_cursor cursor = { .table = table };

	return unwind_host_find(file, next_span, &cursor, &table->head.hosted);
}

#define GO_BUILD_ID 4 /* type of the note that Go's linker writes */

static void look_for_go(void *arg, const struct elf_note *note)
{
	*(bool *)arg |= elf_note_is(note, "Go", GO_BUILD_ID);
}

/* Go's runtime lets what its signal handler goes on with seem to have been called by whom
 * that interrupted. */
static bool only_calls(struct elf_file *file)
{
	bool is_go = false;

	return (file->header.e_type == ET_EXEC || file->header.e_type == ET_DYN) &&
	       !elf_note_each(file, look_for_go, &is_go) && !is_go;
}

static uint32_t pages_for(size_t n, size_t a_page)
{
	return (uint32_t)((n + a_page - 1) / a_page);
}

static int finish(struct unwind_table *table)
{
	struct unwind_head *head = &table->head;
	int err = end_block(table);

	head->n_blocks = (unsigned int)table->blocks.n;
	head->n_rules = (unsigned int)table->rules.n;
	head->rules_page = 1;
	head->blocks_page =
		head->rules_page + pages_for(head->n_rules, UNWIND_RULES_A_PAGE);
	head->rows_page =
		head->blocks_page + pages_for(head->n_blocks, UNWIND_BLOCKS_A_PAGE);
	head->n_pages = head->rows_page + pages_for(table->rows.n, UNWIND_ROWS_A_PAGE);
	table->stats.n_rules = head->n_rules;
	return err;
}

/* The code that there are rules of, behind the rows, for ticks to compare. */
static int take_code(struct unwind_table *table, struct elf_file *file)
{
	uint64_t begin = table->head.text & -(uint64_t)UNWIND_PAGE_BYTES, offset, n;
	uint64_t end = table->head.text + table->blocks.n * UNWIND_BLOCK_BYTES;

	if (!elf_file_offset(file, begin, &offset, &n))
		return fail(-EBADMSG, "a copy of code that lacks some");
	n = end - begin < n ? end - begin : n;
	if (n > UNWIND_COPY_BYTES_MAX)
		return fail(-E2BIG, "a copy of %" PRIu64 " bytes of code", n);
	table->n_code = pages_for(n, UNWIND_PAGE_BYTES);
	table->code = calloc(table->n_code, UNWIND_PAGE_BYTES);
	if (!table->code)
		return fail(-ENOMEM, "no memory for a copy of code");
	table->head.firsts_page = table->head.n_pages;
	table->head.code_page =
		table->head.firsts_page + pages_for(table->firsts.n, UNWIND_ROWS_A_PAGE);
	table->head.n_pages = table->head.code_page + table->n_code;
	return elf_file_read(file, offset, table->code, n);
}

/* Rows go from what reads the file's own information by way of all that knows better, the
 * last of which stands first here. */
static int read_rows(struct unwind_table *table, struct elf_file *file, bool *ret_luajit)
{
	const struct cfi_sink sink = { .arg = table,
				       .row = take_row,
				       .first = table->is_copy ? take_first : NULL };
	struct unwind_synthesized synthesized;
	const struct cfi_sink told = { .arg = &synthesized,
				       .row = unwind_synthesized_row };
	struct unwind_kept kept;
	const struct cfi_sink keeper = { .arg = &kept, .row = unwind_kept_row };
	struct unwind_throw thrower = { .sink = &keeper, .file = file };
	const struct cfi_sink thrown = { .arg = &thrower, .row = unwind_throw_row };
	struct unwind_enters enters = { .sink = &thrown, .file = file };
	const struct cfi_sink entered = { .arg = &enters, .row = unwind_enters_row };
	struct unwind_realign realign = { .sink = &entered };
	const struct cfi_sink realigned = { .arg = &realign, .row = unwind_realign_row };
	struct unwind_luajit luajit = { .sink = &realigned, .file = file };
	const struct cfi_sink rest = { .arg = &luajit, .row = unwind_luajit_row };
	AUTO_UNWIND_GO go = { 0 };
	const struct cfi_sink known = { .arg = &go, .row = unwind_go_row };
	AUTO_UNWIND_BOLT bolt = { 0 };
	const struct cfi_sink all = { .arg = &bolt,
				      .row = unwind_bolt_row,
				      .fde = unwind_bolt_fde };
	int err;

	unwind_synthesized_open(&synthesized, file, &sink);
	unwind_kept_open(&kept, file, &told);
	unwind_go_open(&go, file, &rest);
	unwind_bolt_open(&bolt, file, &known);
	err = cfi_read(file, bolt.is_made ? &all : &known, &table->stats.cfi);
	if (!err)
		err = unwind_bolt_end(&bolt);
	if (!err)
		err = unwind_go_end(&go);
	if (!err)
		err = unwind_realign_end(&realign);
	if (!err)
		err = unwind_enters_end(&enters);
	if (!err)
		err = unwind_throw_end(&thrower);
	if (!err)
		err = unwind_kept_end(&kept);
	if (!err)
		err = unwind_synthesized_end(&synthesized);
	*ret_luajit = luajit.found;
	table->stats.unread_bytes = synthesized.budget.unread;
	return err;
}

int unwind_table_build(int fd, struct range_recorder *recorder, struct unwind_table **ret)
{
	AUTO(unwind_table) table = calloc(1, sizeof(*table));
	AUTO_ELF file = { 0 };
	bool has_luajit = false;
	int err;

	if (!table)
		return fail(-ENOMEM, "no memory for an unwind table");
	err = unwind_rules_init(&table->rules);
	if (!err)
		err = elf_file_open_recorded(&file, fd, recorder);
	table->is_copy = !err && is_copy(&file);
	if (!err)
		err = read_rows(table, &file, &has_luajit);
	if (!err && !table->n_run)
		return fail(-ENODATA, "no call frame information");
	if (!err)
		err = finish(table);
	if (!err && table->is_copy)
		err = take_code(table, &file);
	if (!err && keeps_fp(table, &file))
		table->head.flags |= UNWIND_KEEPS_FP;
	if (!err && only_calls(&file))
		table->head.flags |= UNWIND_CALLS;
	if (!err && has_luajit)
		table->head.flags |= UNWIND_LUAJIT;
	if (!err && is_host(table, &file))
		table->head.flags |= UNWIND_HOST;
	if (!err && unwind_host_enters(&table->rules, &table->head.hosted)) {
		/* its code that no table tells of keeps no frame pointer, and calls */
		table->head.flags &= ~(unsigned int)UNWIND_KEEPS_FP;
		table->head.flags |= UNWIND_HOST | UNWIND_HOST_OF_FILES;
	}
	if (!err)
		*ret = GIVE(table);
	return err;
}

const struct unwind_head *unwind_table_head(const struct unwind_table *table)
{
	return &table->head;
}

const struct unwind_stats *unwind_table_stats(const struct unwind_table *table)
{
	return &table->stats;
}

/* The number-th page of an array of items, as many bytes as it has there. */
static void copy_page(union unwind_page *page, const void *items, size_t bytes,
		      uint32_t number)
{
	size_t at = (size_t)number * sizeof(*page);

	if (at < bytes)
		memcpy(page, (const char *)items + at,
		       bytes - at < sizeof(*page) ? bytes - at : sizeof(*page));
}

/* Each as bytes from the code's first page. */
static void copy_firsts(union unwind_page *ret, const struct unwind_table *table,
			uint32_t number)
{
	uint64_t begin = table->head.text & -(uint64_t)UNWIND_PAGE_BYTES;
	size_t at = number * UNWIND_ROWS_A_PAGE, n = table->firsts.n - at;

	for (size_t i = 0; i < n && i < UNWIND_ROWS_A_PAGE; i++)
		ret->firsts[i] = (unsigned int)(table->firsts.items[at + i] - begin);
}

void unwind_table_page(const struct unwind_table *table, uint32_t page,
		       union unwind_page *ret)
{
	const struct unwind_head *head = &table->head;

	memset(ret, 0, sizeof(*ret));
	if (table->is_copy && page >= head->code_page)
		copy_page(ret, table->code, (size_t)table->n_code * UNWIND_PAGE_BYTES,
			  page - head->code_page);
	else if (table->is_copy && page >= head->firsts_page)
		copy_firsts(ret, table, page - head->firsts_page);
	else if (page >= head->rows_page)
		copy_page(ret, table->rows.items,
			  table->rows.n * sizeof(*table->rows.items),
			  page - head->rows_page);
	else if (page >= head->blocks_page)
		copy_page(ret, table->blocks.items,
			  table->blocks.n * sizeof(*table->blocks.items),
			  page - head->blocks_page);
	else if (page >= head->rules_page)
		copy_page(ret, table->rules.items,
			  table->rules.n * sizeof(*table->rules.items),
			  page - head->rules_page);
	else
		ret->head = *head;
}
