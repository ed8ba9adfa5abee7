/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a parse worker keeps of files that it is asked about again and again, as an agent
 * asks in each window: the orders of their symbols (obj/symbol_order.h), and symbols that
 * they carry packed. Bounded; what was asked for longest ago goes first.
 */
#ifndef WEFT_OBJ_SYMBOL_SHELF_H
#define WEFT_OBJ_SYMBOL_SHELF_H

#include "obj/elf_debugdata.h"
#include "obj/symbol_order.h"

#define SHELF_BYTES_MAX (16u << 20)

/* Which of a file's tables. */
enum { SHELF_OF_FILE, SHELF_OF_DEBUGDATA, N_SHELF_TABLES };

struct shelf_file {
	uint64_t dev, ino, bytes, mtime_ns, ctime_ns;
	uint64_t asked_at;			     /* by the shelf's count */
	uint32_t n_asked, n_needed;		     /* of that, to keep something */
	struct symbol_order *orders[N_SHELF_TABLES]; /* NULL: not there */
	bool is_refused[N_SHELF_TABLES];	     /* of a table that can have none */
	bool has_data; /* data is known, if only that there is none */
	struct elf_debugdata data;
};

struct symbol_shelf;

int symbol_shelf_new(struct symbol_shelf **ret);
void symbol_shelf_free(struct symbol_shelf *shelf);
DEFINE_FREEP(symbol_shelf)

/* The file that is asked about now, good until the next call; NULL: there is no place for
 * it. What is put there is the shelf's. */
struct shelf_file *symbol_shelf_ask(struct symbol_shelf *shelf, int fd);

/* Is it asked about so often that it is worth while to keep something of it? */
bool shelf_file_is_usual(const struct shelf_file *file);

/* After something was put there. */
void symbol_shelf_trim(struct symbol_shelf *shelf);

#endif
