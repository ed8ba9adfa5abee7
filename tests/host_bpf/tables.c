// SPDX-License-Identifier: BSD-2-Clause
#include "tables.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define MAPPING_TABLE_PAGE 3 /* none of them begins at page 0 */
#define FIRST_TABLE                                                                      \
	(MAPPING_TABLE_PAGE + 1 + UNWIND_MAPPINGS_MAX / UNWIND_MAPPINGS_A_PAGE)
#define ROWS	   16384
#define GENERATION 7

static struct {
	union unwind_page pages[TABLES_PAGES];
	uint32_t n_pages, n_mappings;
	struct made_row {
		uint64_t addr;
		struct unwind_rule rule;
	} rows[ROWS];
	size_t n_rows;
} made;

void tables_clear(void)
{
	memset(made.pages, 0xa5, made.n_pages * sizeof(*made.pages));
	made.pages[MAPPING_TABLE_PAGE].mapping_head =
		(struct unwind_mapping_head){ .generation = GENERATION };
	made.n_pages = FIRST_TABLE;
	made.n_mappings = 0;
	walker_lend_pages(made.pages, TABLES_PAGES);
}

union unwind_page *tables_page(uint32_t n)
{
	if (n >= TABLES_PAGES)
		abort(); /* a test that wants more than there is */
	if (n >= made.n_pages)
		made.n_pages = n + 1;
	return &made.pages[n];
}

void mapping_table_add(uint64_t start, uint64_t end, uint64_t bias, uint32_t table,
		       uint32_t flags)
{
	static uint32_t serials; /* no two tables of a run have the same */
	uint32_t n = ++made.n_mappings;
	struct unwind_mapping *at =
		tables_page(MAPPING_TABLE_PAGE + n / UNWIND_MAPPINGS_A_PAGE)->mappings;

	flags |= ++serials << UNWIND_SERIAL_SHIFT;
	at[n % UNWIND_MAPPINGS_A_PAGE] = (struct unwind_mapping){
		.start = start, .end = end, .bias = bias, .table = table, .flags = flags
	};
	knobs.tables = 1;
}

const struct unwind_mapping *mapping_table_find(uint64_t addr)
{
	const struct unwind_mapping *at;

	for (uint32_t n = 1; n <= made.n_mappings; n++) {
		at = &made.pages[MAPPING_TABLE_PAGE + n / UNWIND_MAPPINGS_A_PAGE]
			      .mappings[n % UNWIND_MAPPINGS_A_PAGE];
		if (addr >= at->start && addr < at->end)
			return at;
	}
	return NULL;
}

uint32_t tables_pages(void)
{
	return made.n_pages;
}

struct process_info tables_process_info(void)
{
	return (struct process_info){ .mapping_table = MAPPING_TABLE_PAGE,
				      .n_mappings = made.n_mappings,
				      .generation = GENERATION };
}

void table_begin(void)
{
	made.n_rows = 0;
}

void table_row(uint64_t addr, struct unwind_rule rule)
{
	if (made.n_rows == ROWS)
		abort();
	made.rows[made.n_rows++] = (struct made_row){ addr, rule };
}

const struct unwind_rule *table_rule_at(uint64_t addr)
{
	const struct unwind_rule *rule = NULL;

	for (size_t i = 0; i < made.n_rows && made.rows[i].addr <= addr; i++)
		rule = &made.rows[i].rule;
	return rule;
}

/* One rule a row, and NONE, number 0. */
static uint32_t put_rules(uint32_t page)
{
	struct unwind_rule rule = { 0 };
	size_t i;

	for (i = 0; i <= made.n_rows; i++) {
		if (i)
			rule = made.rows[i - 1].rule;
		tables_page(page + i / UNWIND_RULES_A_PAGE)
			->rules[i % UNWIND_RULES_A_PAGE] = rule;
	}
	return page + (i + UNWIND_RULES_A_PAGE - 1) / UNWIND_RULES_A_PAGE;
}

/* The run of the block at addr, from row `made.rows[*row]` on, behind n others. */
static struct unwind_block put_run(uint32_t page, uint32_t n, uint64_t addr, size_t *row)
{
	struct unwind_row run[UNWIND_BLOCK_BYTES];
	struct unwind_block block = { .first = n };
	uint32_t left = UNWIND_ROWS_A_PAGE - n % UNWIND_ROWS_A_PAGE;

	/* what holds at its beginning, perhaps since long before */
	run[block.count++] = (struct unwind_row){ 0, *row };
	for (; *row < made.n_rows && made.rows[*row].addr < addr + UNWIND_BLOCK_BYTES;
	     ++*row) {
		uint64_t offset = made.rows[*row].addr - addr;

		block.count -= !offset;
		run[block.count++] = (struct unwind_row){ offset, *row + 1 };
	}
	if (block.count > left)
		block.first += left;
	memcpy(&tables_page(page + block.first / UNWIND_ROWS_A_PAGE)
			->rows[block.first % UNWIND_ROWS_A_PAGE],
	       run, block.count * sizeof(*run));
	return block;
}

uint32_t table_end(void)
{
	uint32_t table = made.n_pages, n = 0;
	uint64_t text = made.rows[0].addr & ~(UNWIND_BLOCK_BYTES - 1ULL);
	uint64_t end = made.rows[made.n_rows - 1].addr;
	struct unwind_head head = { .text = text, .rules_page = 1 };
	size_t row = 0;

	head.n_rules = made.n_rows + 1;
	head.n_blocks = (end - text) / UNWIND_BLOCK_BYTES + 1;
	head.blocks_page = put_rules(table + 1) - table;
	head.rows_page = head.blocks_page + (head.n_blocks + UNWIND_BLOCKS_A_PAGE - 1) /
						    UNWIND_BLOCKS_A_PAGE;
	for (uint32_t i = 0; i < head.n_blocks; i++) {
		struct unwind_block block =
			put_run(table + head.rows_page, n,
				text + (uint64_t)i * UNWIND_BLOCK_BYTES, &row);

		n = block.first + block.count;
		tables_page(table + head.blocks_page + i / UNWIND_BLOCKS_A_PAGE)
			->blocks[i % UNWIND_BLOCKS_A_PAGE] = block;
	}
	head.n_pages = made.n_pages - table;
	tables_page(table)->head = head;
	return table;
}

/* Where the block's rows begin, as bytes from the page that the code begins in. */
static void put_firsts(uint32_t page, const struct unwind_head *head, uint32_t table,
		       uint32_t number)
{
	uint32_t skipped = head->text % UNWIND_PAGE_BYTES + number * UNWIND_BLOCK_BYTES;
	const struct unwind_block *block =
		&tables_page(table + head->blocks_page + number / UNWIND_BLOCKS_A_PAGE)
			 ->blocks[number % UNWIND_BLOCKS_A_PAGE];

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		tables_page(page + i / UNWIND_ROWS_A_PAGE)
			->firsts[i % UNWIND_ROWS_A_PAGE] =
			skipped +
			tables_page(table + head->rows_page + i / UNWIND_ROWS_A_PAGE)
				->rows[i % UNWIND_ROWS_A_PAGE]
				.offset;
}

uint32_t table_end_copy(void)
{
	uint32_t table = table_end(), n_pages;
	struct unwind_head *head = &tables_page(table)->head;
	uint64_t begin = head->text & -(uint64_t)UNWIND_PAGE_BYTES;
	uint64_t bytes = head->text + head->n_blocks * UNWIND_BLOCK_BYTES - begin;

	head->firsts_page = head->n_pages;
	head->code_page = 2 * head->n_pages - head->rows_page;
	for (uint32_t i = 0; i < head->n_blocks; i++)
		put_firsts(table + head->firsts_page, head, table, i);
	n_pages = (uint32_t)((bytes + UNWIND_PAGE_BYTES - 1) / UNWIND_PAGE_BYTES);
	for (uint64_t at = 0; at < (uint64_t)n_pages * UNWIND_PAGE_BYTES; at += 8) {
		uint64_t word;

		memory_get(begin + at, &word);
		tables_page(table + head->code_page + (uint32_t)(at / UNWIND_PAGE_BYTES))
			->words[at % UNWIND_PAGE_BYTES / 8] = word;
	}
	head->n_pages = head->code_page + n_pages;
	return table;
}
