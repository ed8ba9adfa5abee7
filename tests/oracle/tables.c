// SPDX-License-Identifier: BSD-2-Clause
#include "tables.h"

#include "walker.h"

#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <string.h>

enum { MAPPING_TABLE_PAGE = 1, TABLE_PAGE, PAGES_MAX = 64 };

static union unwind_page pages[PAGES_MAX];

static struct process_info publish(struct unwind_mapping mapping, uint32_t n)
{
	pages[MAPPING_TABLE_PAGE].mapping_head.generation = 1;
	pages[MAPPING_TABLE_PAGE].mappings[1] = mapping;
	walker_lend_pages(pages, n);
	return (struct process_info){ .mapping_table = MAPPING_TABLE_PAGE,
				      .n_mappings = 1,
				      .generation = 1 };
}

void tables_publish_none(const struct shadow *shadow, struct process_info *ret)
{
	*ret = publish((struct unwind_mapping){ .start = shadow->text,
						.end = shadow->text_end,
						.flags = UNWIND_BY_FP },
		       TABLE_PAGE);
}

bool tables_publish(const char *path, const struct shadow *shadow,
		    struct process_info *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO(unwind_table) table = NULL;
	uint32_t n;

	if (fd < 0 || unwind_table_build(fd, NULL, &table))
		return false;
	n = unwind_table_head(table)->n_pages;
	if (TABLE_PAGE + n > PAGES_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		unwind_table_page(table, i, &pages[TABLE_PAGE + i]);
	*ret = publish((struct unwind_mapping){ .start = shadow->text,
						.end = shadow->text_end,
						.table = TABLE_PAGE },
		       TABLE_PAGE + n);
	return true;
}
