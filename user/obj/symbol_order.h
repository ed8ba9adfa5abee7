/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbols of a table in order of their addresses, 16 bytes each, for who asks about a
 * file again and again: those that may name an address are found without a pass over the
 * table. It says where in the table to look, and is good as long as the file is what it
 * was.
 */
#ifndef WEFT_OBJ_SYMBOL_ORDER_H
#define WEFT_OBJ_SYMBOL_ORDER_H

#include "base/cleanup.h"
#include "base/vec.h"
#include "obj/elf_table.h"
#include "obj/symbol_kind.h"

#define SYMBOL_ORDER_MAX (3u << 18) /* symbols */

struct symbol_order;

/* May this symbol name an address, or end what the one before it may name? */
typedef bool (*symbol_filter)(void *arg, const Elf64_Sym *sym,
			      enum symbol_start *ret_kind);

/* One pass over the table. 0; -EFBIG: too many symbols, or too far apart; -ENOMEM, or the
 * error of a read. */
int symbol_order_new(struct symbol_order **ret, struct elf_file *file,
		     const struct elf_table *table, symbol_filter filter, void *arg);
void symbol_order_free(struct symbol_order *order);
DEFINE_FREEP(symbol_order)

size_t symbol_order_bytes(const struct symbol_order *order);

struct symbol_numbers { /* {0} is empty */
	VEC(uint32_t) of;
	size_t steps; /* that the searches took, beyond the first of each */
};

/* Adds the numbers in the table of all symbols that cover addr and of those of each kind
 * that start nearest at or below it. 0; -EFBIG: a pass over the table is no dearer, since
 * many cover each other; or -ENOMEM. */
int symbol_order_find(const struct symbol_order *order, uint64_t addr,
		      struct symbol_numbers *numbers);

/* Each once, as they follow in the table. */
void symbol_numbers_sort(struct symbol_numbers *numbers);

#endif
