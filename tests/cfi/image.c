// SPDX-License-Identifier: BSD-2-Clause
#include "image.h"

#include <stdio.h>
#include <stdlib.h>

static const struct unwind_block *block_at(const struct image *image, uint32_t i)
{
	return &image->pages[image->head.blocks_page + i / UNWIND_BLOCKS_A_PAGE]
			.blocks[i % UNWIND_BLOCKS_A_PAGE];
}

static const struct unwind_row *row_at(const struct image *image, uint32_t i)
{
	return &image->pages[image->head.rows_page + i / UNWIND_ROWS_A_PAGE]
			.rows[i % UNWIND_ROWS_A_PAGE];
}

static struct unwind_rule rule_at(const struct image *image, uint32_t i)
{
	return image->pages[image->head.rules_page + i / UNWIND_RULES_A_PAGE]
		.rules[i % UNWIND_RULES_A_PAGE];
}

#define MUST(what)                                                                       \
	do {                                                                             \
		if (!(what)) {                                                           \
			fprintf(stderr, "image: not %s\n", #what);                       \
			return false;                                                    \
		}                                                                        \
	} while (0)

static bool check_block(const struct image *image, uint32_t i)
{
	const struct unwind_block *block = block_at(image, i);

	MUST(block->count <= UNWIND_ROWS_A_PAGE && !block->reserved);
	if (!block->count)
		return true;
	MUST(block->first % UNWIND_ROWS_A_PAGE + block->count <= UNWIND_ROWS_A_PAGE);
	MUST(image->head.rows_page +
		     (block->first + block->count - 1) / UNWIND_ROWS_A_PAGE <
	     image->head.n_pages);
	MUST(!row_at(image, block->first)->offset);
	for (uint32_t k = 0; k < block->count; k++) {
		const struct unwind_row *row = row_at(image, block->first + k);

		MUST(row->rule < image->head.n_rules);
		MUST(rule_at(image, row->rule).cfa < N_UNWIND_CFAS);
		MUST(row->offset < UNWIND_BLOCK_BYTES);
		MUST(!k || row->offset > row[-1].offset);
	}
	return true;
}

static bool check(const struct image *image)
{
	const struct unwind_head *head = &image->head;

	MUST(head->n_pages <= UNWIND_PAGES_MAX);
	MUST(head->text % UNWIND_BLOCK_BYTES == 0);
	MUST(head->rules_page == 1 && head->blocks_page > head->rules_page);
	MUST(head->rows_page > head->blocks_page && head->n_pages >= head->rows_page);
	MUST((head->n_rules - 1) / UNWIND_RULES_A_PAGE + head->rules_page <
	     head->blocks_page);
	MUST((head->n_blocks - 1) / UNWIND_BLOCKS_A_PAGE + head->blocks_page <
	     head->rows_page);
	for (uint32_t i = 0; i < head->n_blocks; i++)
		if (!check_block(image, i))
			return false;
	return true;
}

bool image_load(struct image *image, const struct unwind_table *table)
{
	uint32_t n = unwind_table_head(table)->n_pages;

	image->pages = calloc(n, sizeof(*image->pages));
	if (!image->pages)
		return false;
	for (uint32_t i = 0; i < n; i++)
		unwind_table_page(table, i, &image->pages[i]);
	image->head = image->pages[0].head;
	return check(image);
}

void image_free(struct image *image)
{
	free(image->pages);
	image->pages = NULL;
}

struct unwind_rule image_rule(const struct image *image, uint64_t pc)
{
	uint64_t at = pc - image->head.text;
	const struct unwind_block *block;
	uint32_t low = 0, high;

	if (pc < image->head.text ||
	    at / UNWIND_BLOCK_BYTES >= (uint64_t)image->head.n_blocks)
		return (struct unwind_rule){ 0 };
	block = block_at(image, (uint32_t)(at / UNWIND_BLOCK_BYTES));
	if (!block->count)
		return (struct unwind_rule){ 0 };
	for (high = block->count; high - low > 1;) {
		uint32_t mid = (low + high) / 2;

		if (row_at(image, block->first + mid)->offset <= at % UNWIND_BLOCK_BYTES)
			low = mid;
		else
			high = mid;
	}
	return rule_at(image, row_at(image, block->first + low)->rule);
}

size_t image_rows(const struct image *image, struct image_row **ret)
{
	size_t n = 0, room = image->head.n_blocks;

	for (uint32_t i = 0; i < image->head.n_blocks; i++)
		room += block_at(image, i)->count;
	*ret = calloc(room + 1, sizeof(**ret));
	for (uint32_t i = 0; *ret && i < image->head.n_blocks; i++) {
		const struct unwind_block *block = block_at(image, i);
		uint64_t pc = image->head.text + (uint64_t)i * UNWIND_BLOCK_BYTES;

		if (!block->count)
			(*ret)[n++] = (struct image_row){ .pc = pc };
		for (uint32_t k = 0; k < block->count; k++) {
			const struct unwind_row *row = row_at(image, block->first + k);

			(*ret)[n++] = (struct image_row){ pc + row->offset,
							  rule_at(image, row->rule) };
		}
	}
	return n;
}
