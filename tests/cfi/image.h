/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a table back out of its pages, as a tick does: block, run, rule. What
 * the pages must keep to is checked on the way.
 */
#ifndef WEFT_TESTS_CFI_IMAGE_H
#define WEFT_TESTS_CFI_IMAGE_H

#include "unwind/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>

struct image {
	union unwind_page *pages;
	struct unwind_head head;
};

struct image_row {
	uint64_t pc;
	struct unwind_rule rule;
};

/* False, and a word on stderr, when it breaks a promise of shared/unwind.h. */
bool image_load(struct image *image, const struct unwind_table *table);
void image_free(struct image *image);

/* The rule for an address; NONE where there is none. */
struct unwind_rule image_rule(const struct image *image, uint64_t pc);

/* All rows in order, a block's first one included. The caller frees *ret. */
size_t image_rows(const struct image *image, struct image_row **ret);

#endif
