// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_head.h"

#include <stddef.h>

/* A part of the table: does it lie behind the page and within the table? */
static bool part_holds(uint32_t page, uint32_t n, size_t a_page, uint32_t end)
{
	return page <= end && (n + a_page - 1) / a_page <= end - page;
}

bool unwind_head_holds(const struct unwind_head *head, uint32_t n_pages)
{
	return head->n_pages == n_pages && head->code_page < n_pages &&
	       head->firsts_page < n_pages && head->rules_page && head->n_rules &&
	       part_holds(head->rules_page, head->n_rules, UNWIND_RULES_A_PAGE,
			  head->blocks_page) &&
	       part_holds(head->blocks_page, head->n_blocks, UNWIND_BLOCKS_A_PAGE,
			  head->rows_page) &&
	       head->rows_page <= n_pages && head->text % UNWIND_BLOCK_BYTES == 0;
}
