/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made-up mapping tables and unwind tables, laid out as include/shared/unwind.h says,
 * without a line of those that make the true ones. One at a time.
 */
#ifndef WEFT_TESTS_TABLES_H
#define WEFT_TESTS_TABLES_H

#include "walker.h"

#include <stdint.h>

#define TABLES_PAGES 1024

/* Rules that compilers make, with the return address below the CFA. */
#define RULE(...)	((struct unwind_rule){ .ra_words = -1, __VA_ARGS__ })
#define RULE_SP(offset) RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = (offset))
#define RULE_OF(kind)	RULE(.cfa = UNWIND_CFA_##kind)
/* of a function below what a fiber runs: its caller is on the stack that *sp says */
#define RULE_CROSSING(...)                                                               \
	RULE(.cfa = UNWIND_CFA_DEREF_SP, .cfa_offset = 0x10, __VA_ARGS__)
#define RULE_FP RULE_FP_AT(16, -2)
#define RULE_FP_AT(offset, words)                                                        \
	RULE(.cfa = UNWIND_CFA_FP, .cfa_offset = (offset), .fp = UNWIND_FP_CFA,          \
	     .fp_words = (words))

/* No table of either kind; lends its pages to the walker. */
void tables_clear(void);

/* A table: rows by address, each up to the next one; the last is its end. */
void table_begin(void);
void table_row(uint64_t addr, struct unwind_rule rule);
uint32_t table_end(void); /* its head page */

/* The same of a copy of the code that lies in memory there; a row's stack is first so
 * where it begins. */
uint32_t table_end_copy(void);

/* The next mapping of the table, by address. Walks go by tables from now on. */
void mapping_table_add(uint64_t start, uint64_t end, uint64_t bias, uint32_t table,
		       uint32_t flags);

/* As user space publishes it for the process. */
struct process_info tables_process_info(void);

/* What was asked for, found without a search: of the last table, NULL before its
 * first row; of the mapping, NULL where nothing is mapped. */
const struct unwind_rule *table_rule_at(uint64_t addr);
const struct unwind_mapping *mapping_table_find(uint64_t addr);

/* To corrupt it; there are so many in use. */
union unwind_page *tables_page(uint32_t n);
uint32_t tables_pages(void);

#endif
