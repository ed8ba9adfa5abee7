/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What CFA expressions readelf names, function by function: it shows them beside
 * the instructions, not beside the rows. A rule that stands for one must be among
 * those of its function.
 */
#ifndef WEFT_TESTS_CFI_EXPRS_H
#define WEFT_TESTS_CFI_EXPRS_H

#include "shared/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exprs {
	struct expr {
		uint64_t begin, end;	 /* of the function */
		struct unwind_rule rule; /* how it finds the CFA; UNSUPPORTED: not */
	} * items;
	size_t n;
};

void exprs_read(struct exprs *exprs, const char *readelf, const char *path);
void exprs_free(struct exprs *exprs);

/* Could the rule stand for the expression of a row there? */
bool exprs_allow(const struct exprs *exprs, uint64_t pc, const struct unwind_rule *rule);

#endif
