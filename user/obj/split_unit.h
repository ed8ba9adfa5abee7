/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Split DWARF: a program's unit is a skeleton, which has the lines, and its functions
 * lie in a file of their own (.dwo). That one says where code is by numbers of entries in
 * the program's sections. libdw follows these only in a file that it opened itself, by
 * the path that the program says, and the worker opens nothing. So the file is handed
 * over, libdw reads it alone, and what leads back to the program is looked up here.
 * Foreign bytes: run in the parse worker. DWARF 4 (GNU) and 5, of 64-bit programs.
 */
#ifndef WEFT_OBJ_SPLIT_UNIT_H
#define WEFT_OBJ_SPLIT_UNIT_H

#include "obj/dwarf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that whoever asks has found. */
struct split_file {
	uint64_t id; /* as the skeleton says it */
	int fd;
};

struct split_unit {
	struct dwarf_file file;
	Dwarf_Die die;
	uint64_t base;		   /* of the skeleton */
	struct dwarf_bytes info;   /* of the unit's file */
	struct dwarf_bytes lists;  /* of ranges: its file's, or before 5 the program's */
	struct dwarf_bytes starts; /* of lists, by number */
	struct dwarf_bytes addrs;  /* of the program */
};

/* Does a unit of a program say that its functions are elsewhere? */
bool split_unit_is_skeleton(Dwarf_Die *unit, uint64_t *ret_id);

/* fd: the file of skeleton, a unit of program. 0, -EBADMSG of what can't be read or is
 * another unit's. To be closed in either case. */
int split_unit_open(struct split_unit *unit, int fd, const struct dwarf_file *program,
		    Dwarf_Die *skeleton);
void split_unit_close(struct split_unit *unit);

/* The code of a function or block of the unit's, which may be nowhere. */
typedef void (*split_range_sink)(void *arg, uint64_t start, uint64_t end);
void split_unit_ranges(const struct split_unit *unit, Dwarf_Die *die,
		       split_range_sink sink, void *arg);

#endif
